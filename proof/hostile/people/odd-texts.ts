/** Texts that somebody whose token another program has signed can have as a name, by what is odd about them. */
export const ODD_TEXTS: Readonly<Record<string, string>> = {
  NUL: 'a\0b',
  'a bell': 'a\u0007b',
  'a title for the terminal': '\u001b]0;owned\u0007name',
  'a cleared terminal': '\u001b[2J\u001b[H$ all is well',
  'a C1 control': '\u009b31mred',
  'a line of a log': 'a\n{"level":50,"msg":"forged"}',
  'a carriage return': 'Mallory\rAda',
  'a backspace': 'Mallory\b\b\b\b\b\b\bAda',
  'the other direction': '\u202egnp.exe\u202c',
  'an isolate without end': '\u2067Ada',
  'no width': 'A\u200bd\u200ba\ufeff',
  'a line separator': 'Ada\u2028Mallory\u2029',
  'half a character': 'a\ud800b',
  'an emoji of a family': '👩‍👩‍👧‍👦 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'stacked marks': `Z${'\u0351\u0317'.repeat(80)}`,
  HTML: '<img src=x onerror="alert(1)"></script><script>alert(2)</script>',
  Markdown: '[Ada](javascript:alert(1)) ![x](http://127.0.0.1:9/x)',
  'a formula': '=cmd|"/c calc"!A1',
  SQL: "'; drop table events; --",
  'a template': '#{7*7}{{7*7}}%s%n%x',
  'a path': '../../../../etc/passwd',
  'a prototype': '__proto__',
  'a link': 'javascript:alert(1)',
  'blanks only': '   ',
  '200 letters': 'n'.repeat(200),
  '256 bytes': 'é'.repeat(128),
  '64 kB': 'n'.repeat(65_536),
};

/** Characters that act on a terminal, or hide how a text reads. */
export const UNSHOWN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
