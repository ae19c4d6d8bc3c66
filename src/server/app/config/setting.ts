/*
 * A setting is data: its parser, its allowed values and its default. A bad value is reported with the setting's name,
 * the value (masked when it is secret) and what is allowed. It is never silently replaced.
 */

export type Setting<T> = {
  readonly parse: (text: string) => T | undefined;
  readonly allowed: string;
  readonly fallback: T | typeof REQUIRED;
  readonly secret: boolean;
  readonly meaning: string;
};

export const REQUIRED: unique symbol = Symbol('required');

/** Protocols of a URL that is called by HTTP. */
export const HTTP: readonly string[] = ['http:', 'https:'];

/** Printable ASCII without spaces, which fits into a header and into one line of a .env file. */
export const KEY = /^[\x21-\x7e]{1,256}$/;

type SettingBase<T> = {
  readonly meaning: string;
  readonly fallback: T | typeof REQUIRED;
  readonly secret?: boolean;
};

export function textSetting<T extends string | undefined>(
  base: SettingBase<T> & {
    readonly pattern?: RegExp;
    readonly check?: (text: string) => boolean;
    readonly allowed?: string;
  },
): Setting<string | T> {
  return {
    parse: (text) => ((base.pattern?.test(text) ?? true) && (base.check?.(text) ?? true) ? text : undefined),
    allowed: base.allowed ?? 'any text that is not empty',
    fallback: base.fallback,
    secret: base.secret ?? false,
    meaning: base.meaning,
  };
}

export function integerSetting<T extends number | undefined>(
  base: SettingBase<T> & { readonly minimum: number; readonly maximum: number; readonly unit?: string },
): Setting<number | T> {
  return {
    parse: (text) => {
      if (!/^\d{1,15}$/.test(text)) return undefined;
      const value = Number(text);
      return value >= base.minimum && value <= base.maximum ? value : undefined;
    },
    allowed: `an integer from ${base.minimum} to ${base.maximum}${base.unit === undefined ? '' : ` ${base.unit}`}`,
    fallback: base.fallback,
    secret: false,
    meaning: base.meaning,
  };
}

export function switchSetting(base: SettingBase<boolean>): Setting<boolean> {
  const values: Readonly<Record<string, boolean>> = {
    on: true,
    true: true,
    '1': true,
    off: false,
    false: false,
    '0': false,
  };
  return {
    parse: (text) => (Object.hasOwn(values, text) ? values[text] : undefined),
    allowed: 'on or off',
    fallback: base.fallback,
    secret: false,
    meaning: base.meaning,
  };
}

export function choiceSetting<const C extends string, const F extends C | undefined>(
  base: SettingBase<F> & { readonly choices: readonly C[] },
): Setting<C | F> {
  return {
    parse: (text) => base.choices.find((choice) => choice === text),
    allowed: `one of ${base.choices.join(', ')}`,
    fallback: base.fallback,
    secret: false,
    meaning: base.meaning,
  };
}

export function urlSetting<T extends string | undefined>(
  base: SettingBase<T> & { readonly protocols: readonly string[]; readonly isOrigin?: boolean },
): Setting<string | T> {
  const schemes = base.protocols.map((protocol) => `${protocol}//`).join(', ');
  return {
    parse: (text) => parseUrl(text, base.protocols),
    allowed: `a URL that begins with ${schemes} and carries no user info, query or fragment`,
    fallback: base.fallback,
    secret: base.secret ?? false,
    meaning: base.meaning,
  };
}

function parseUrl(text: string, protocols: readonly string[]): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!protocols.includes(url.protocol) || url.hostname === '') return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  return text.replace(/\/+$/, '');
}
