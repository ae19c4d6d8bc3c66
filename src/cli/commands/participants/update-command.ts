import { ROLES } from '../../../contract/choices.ts';
import type { ParticipantPatch } from '../../../contract/participants.ts';
import { usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import { jsonObject, notEmpty, oneOf, option } from '../../framework/parameters.ts';
import { record } from '../../terminal/result.ts';
import { IDENTITY, PARTICIPANT_COLUMNS, PARTICIPANT_FIELDS, ROOM } from './participant-view.ts';

type Attributes = NonNullable<ParticipantPatch['attributes']>;

export const update = defineCommand({
  noun: 'participants',
  verb: 'update',
  summary: "Change a participant's name, metadata, attributes or role",
  description:
    'Everyone in the room sees the change at once. The role lasts until the participant leaves. LiveKit grants room administration by token only.',
  needs: 'service',
  fields: PARTICIPANT_FIELDS,
  arguments: { room: ROOM, identity: IDENTITY },
  options: {
    role: option('--role <role>', 'what the participant may do from now on', oneOf(ROLES)),
    name: option('--name <name>', 'new name that others see', { parse: notEmpty, source: 'typed-or-stdin' }),
    metadata: option('--metadata <json>', 'JSON object that replaces the metadata', {
      parse: jsonObject,
      source: 'typed-or-file',
    }),
    attributes: option('--attributes <json>', 'JSON object of texts to set; null removes one', {
      parse: attributeTexts,
      source: 'typed-or-file',
    }),
  },
  examples: [
    { line: 'rtc participants update demo ada --role viewer', does: 'From now on ada can only listen' },
    {
      line: `rtc participants update demo ada --attributes '{"hand":"raised","seat":null}'`,
      does: 'Set one attribute, and remove another',
    },
  ],
  async run(context, { room, identity, role, name, metadata, attributes }) {
    const patch: ParticipantPatch = {
      ...(role === undefined ? {} : { role }),
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(attributes === undefined ? {} : { attributes }),
    };
    if (Object.keys(patch).length === 0)
      throw usageError('nothing to change', 'give --role, --name, --metadata or --attributes');
    const client = await context.client();
    const { signal } = context.io;
    const updated = await client.participants.update({ room, identity }, patch, { signal });
    return record({ response: updated, record: updated, columns: PARTICIPANT_COLUMNS });
  },
});

function attributeTexts(text: string): Attributes {
  const given = Object.entries(jsonObject(text));
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (value === null || typeof value === 'string') return [name, value];
      throw usageError(`has ${JSON.stringify(name)} that is neither a text nor null`);
    }),
  );
}
