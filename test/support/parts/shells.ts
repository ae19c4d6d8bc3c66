/** Debian's shells in which the completion of the command line is tested. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
