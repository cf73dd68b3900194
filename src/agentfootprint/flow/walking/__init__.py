"""How a run goes from stage to stage: the loop, and the ways into branches, mounts, resumes and retries."""
