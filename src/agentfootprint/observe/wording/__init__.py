"""What is going on, in words for people: a status line, a commentary, and the catalogues they speak from."""
