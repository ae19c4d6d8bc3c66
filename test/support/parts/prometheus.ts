/** Tests that import this run `prometheus` and `promtool`, which the test command installs on Debian. */
export {};
