import { writeFile } from 'node:fs/promises';
import { settingsDocument } from './settings-document.ts';

/** `node scripts/generate-settings-doc.ts` writes docs/settings.md from the settings of the service. */
await writeFile(new URL('../docs/settings.md', import.meta.url), settingsDocument());
