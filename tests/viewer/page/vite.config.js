export default {
  base: "./",
  esbuild: { jsx: "automatic" },
  build: { target: "esnext", sourcemap: false, chunkSizeWarningLimit: 2000 },
};
