import { usageError } from '../../errors/cli-error.ts';
import type { SpeechModel } from '../../terminal/io.ts';

/** Throws with the names that there are. */
export function findModel(models: readonly SpeechModel[], name: string): SpeechModel {
  const model = models.find((one) => one.name === name);
  if (model !== undefined) return model;
  const names = models.map((one) => one.name).join(', ');
  throw usageError(`there is no model ${JSON.stringify(name)}`, `models: ${names}`);
}
