import { describe, expect, it } from 'vitest';
import { applyOptions } from '../../../../src/server/transcription/live/interim-text.ts';

const makeCaption = (
  text: string,
  changes: { punctuation?: boolean; profanityFilter?: boolean } = {},
): string => applyOptions(text, { punctuation: true, profanityFilter: false, ...changes });

describe('applyOptions', () => {
  it('leaves a text unchanged without options', () => {
    expect(makeCaption("It's 9 o'clock: what the fuck?!")).toBe("It's 9 o'clock: what the fuck?!");
  });

  it.each([
    ["Well, it's 9 o'clock - isn't it?", "well it's 9 o'clock isn't it"],
    ['A well-known fact…', 'a well-known fact'],
    ["'Quoted' “words” (and more)", 'quoted words and more'],
    ['C’è l’Étoile, però.', 'c’è l’étoile però'],
    ['Straße № 5; 100%', 'straße 5 100'],
    ['नमस्ते दुनिया।', 'नमस्ते दुनिया'],
    ['…', ''],
    ['', ''],
  ])('without punctuation %j is %j', (text, bare) => {
    expect(makeCaption(text, { punctuation: false })).toBe(bare);
  });

  it.each([
    ['Shit happens.', 'S*** happens.'],
    ['motherfucker', 'm***********'],
    ['Che cazzo dici, stronzo!', 'Che c**** dici, s******!'],
    [
      'Scunthorpe, a shiitake, Moby Dick and Dickens, cockpit, classic',
      'Scunthorpe, a shiitake, Moby D*** and Dickens, cockpit, classic',
    ],
    ['Nothing here.', 'Nothing here.'],
  ])('masks profanity in %j', (text, masked) => {
    expect(makeCaption(text, { profanityFilter: true })).toBe(masked);
  });

  it('applies both at once', () => {
    expect(makeCaption('Shit, he said!', { punctuation: false, profanityFilter: true })).toBe('s*** he said');
  });
});
