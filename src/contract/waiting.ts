import { type Static, Type } from 'typebox';
import { instantSchema, nameSchema, roomIdParameter } from './names.ts';
import { named } from './schema.ts';
import { RoleSchema, TokenSchema } from './tokens.ts';

/*
 * In a room with a lobby, people of some roles wait before they enter. They wait in another room of the media server, whose name
 * the service derives from that of the room (WAITING_ROOM_PREFIX), until a host, a moderator or a back end admits or denies them.
 */

/** Maximum number of people who wait for a room. */
export const MOST_WAITING = 500;

/** Maximum number of people whom one request admits. */
export const MOST_ADMITTED = 100;

export const WaitingParams = Type.Object({
  roomId: roomIdParameter,
  participantId: nameSchema('Identity of the person who waits', 'ada'),
});

const personFields = {
  identity: Type.String({ description: 'Identity of the token (userId)', examples: ['ada'] }),
  name: Type.String({ description: 'Display name', examples: ['Ada Lovelace'] }),
  role: RoleSchema,
};

export const WaitingPersonSchema = named('WaitingPerson', 'Somebody who waits to be admitted', {
  ...personFields,
  waitingSince: instantSchema('Since when the person has been waiting'),
});
export type WaitingPerson = Static<typeof WaitingPersonSchema>;

export const WaitingListSchema = named('WaitingList', 'The people who wait for a room', {
  lobby: Type.Boolean({ description: 'Whether the room has a lobby now' }),
  waiting: Type.Array(WaitingPersonSchema, {
    description: `Who waits, the longest first; at most ${MOST_WAITING} can wait`,
  }),
});
export type WaitingList = Static<typeof WaitingListSchema>;

const { token, url, expiresAt } = TokenSchema.properties;

export const AdmittedPersonSchema = named(
  'AdmittedPerson',
  'Somebody who was admitted, with the token of the room',
  { ...personFields, token, url, expiresAt },
);
export type AdmittedPerson = Static<typeof AdmittedPersonSchema>;

export const AdmittedListSchema = named('AdmittedList', 'The people who were admitted', {
  admitted: Type.Array(AdmittedPersonSchema, { description: 'Whom this request has admitted' }),
  admittedTruncated: Type.Optional(
    Type.Boolean({
      description: `True when more people wait than the ${MOST_ADMITTED} of one request: repeat it`,
    }),
  ),
});
export type AdmittedList = Static<typeof AdmittedListSchema>;

/** The data that somebody who waits gets when admitted. */
export const AdmissionSchema = named(
  'Admission',
  'The token of the room, for somebody who was admitted to it',
  { roomId: Type.String({ description: 'Room name', examples: ['demo'] }), token, url, expiresAt },
);
export type Admission = Static<typeof AdmissionSchema>;
