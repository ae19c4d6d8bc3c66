/** The shells that Debian has, which the completion of the command line is tried in. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
