import type { Palette } from '../../terminal/colours.ts';
import type { Glyphs } from './draw-text.ts';

export type Focus = 'rooms' | 'people' | 'deliveries';
export const FOCI: readonly Focus[] = ['rooms', 'people', 'deliveries'];

/** The selection and the open question. */
export type View = {
  readonly focus: Focus;
  readonly selected: Readonly<Record<Focus, number>>;
  /** A question, a result or an error, in the last line but one. */
  readonly message: { readonly text: string; readonly paint: keyof Palette } | undefined;
};

export type Drawing = {
  readonly columns: number;
  readonly rows: number;
  readonly palette: Palette;
  readonly glyphs: Glyphs;
  readonly nowMs: number;
  /** Name of the service, and whether it is protected or read-only. */
  readonly title: string;
  readonly isReadOnly: boolean;
};
