import { Copy, FlaskConical, KeyRound, ListOrdered, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { EVENT_TYPES, type EventName } from '../../../contract/event-names.ts';
import type { Webhook, WebhookOrdering } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { Status } from '../parts/status.tsx';

/** The fields of the dialog of a new webhook. */
type Typed = { url: string; events: readonly EventName[]; ordering: WebhookOrdering };

export function CreateWebhook() {
  const typed: Typed = { url: '', events: [], ordering: 'none' };
  return (
    <ChangeButton
      className="primary"
      change={() => ({
        question: 'Register a webhook',
        fields: <NewWebhookFields typed={typed} />,
        verb: 'Register',
        run: async () => {
          const { url, events, ordering } = typed;
          const chosen = events.length === 0 ? {} : { events: [...events] };
          const { secret, warnings = [] } = await client.webhooks.create({ url, ordering, ...chosen });
          return (
            <>
              {warnings.map(({ code, detail }) => (
                <p key={code}>
                  <Status tone="warning">{detail}</Status>
                </p>
              ))}
              <Secret secret={secret} />
            </>
          );
        },
      })}
    >
      <Plus aria-hidden /> Register a webhook
    </ChangeButton>
  );
}

function NewWebhookFields({ typed }: { readonly typed: Typed }) {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<readonly EventName[]>([]);
  const [ordering, setOrdering] = useState<WebhookOrdering>('none');
  const toggle = (name: EventName): void => {
    const chosen = events.includes(name) ? events.filter((other) => other !== name) : [...events, name];
    typed.events = chosen;
    setEvents(chosen);
  };
  const command = writeCommand(
    'webhooks',
    'create',
    url === '' ? 'URL' : url,
    ...(events.length === 0 ? [] : ['--events', events.join(',')]),
    ...(ordering === 'room' ? ['--ordered'] : []),
  );
  return (
    <>
      <label className="field">
        URL
        <input
          value={url}
          required
          placeholder="https://example.org/hooks/rtc"
          onChange={(event) => {
            typed.url = event.target.value;
            setUrl(event.target.value);
          }}
        />
      </label>
      <EventChoices chosen={events} onToggle={toggle} />
      <fieldset className="choices">
        <legend>Order</legend>
        <label>
          <input
            type="checkbox"
            checked={ordering === 'room'}
            onChange={(event) => {
              typed.ordering = event.target.checked ? 'room' : 'none';
              setOrdering(typed.ordering);
            }}
          />
          The events of a room one after the other
        </label>
      </fieldset>
      <CommandLine command={command} />
    </>
  );
}

type ChoicesProps = {
  readonly chosen: readonly EventName[];
  readonly onToggle: (name: EventName) => void;
};

function EventChoices({ chosen, onToggle }: ChoicesProps) {
  return (
    <fieldset className="choices">
      <legend>Events; none for all</legend>
      {EVENT_TYPES.map((name) => (
        <label key={name}>
          <input type="checkbox" checked={chosen.includes(name)} onChange={() => onToggle(name)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** The actions on a registered webhook. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <TestButton webhook={webhook} />
      <ChangeOrder webhook={webhook} />
      <RotateButton webhook={webhook} />
      <DeleteButton webhook={webhook} />
    </>
  );
}

function TestButton({ webhook: { id, url } }: { readonly webhook: Webhook }) {
  return (
    <ChangeButton
      change={() => ({
        question: `Send a test to ${url}?`,
        consequence: 'One event of the kind webhook_test; the response may take 10 s.',
        verb: 'Send it',
        command: writeCommand('webhooks', 'test', id),
        run: async () => {
          const { delivered, statusCode, error } = await client.webhooks.test(id);
          const outcome = statusCode === 0 ? 'nobody responded' : `the receiver responded with ${statusCode}`;
          return (
            <p>
              <Status tone={delivered ? 'good' : 'bad'}>
                {delivered ? 'Delivered' : 'Not delivered'}: {outcome}
                {error === undefined ? '' : `, ${error}`}
              </Status>
            </p>
          );
        },
      })}
    >
      <FlaskConical aria-hidden /> Test
    </ChangeButton>
  );
}

/** Asks for the events of a room in order, or no longer. */
function ChangeOrder({ webhook: { id, ordering } }: { readonly webhook: Webhook }) {
  const isOrdered = ordering === 'room';
  return (
    <ChangeButton
      change={() => ({
        question: isOrdered
          ? 'Send the events of a room side by side?'
          : 'Send the events of a room in order?',
        consequence: isOrdered
          ? 'From now on, events of a room may overtake each other.'
          : 'From now on, each event waits until the receiver has accepted the one before it in its room.',
        verb: isOrdered ? 'Send them side by side' : 'Send them in order',
        command: writeCommand('webhooks', 'update', id, isOrdered ? '--unordered' : '--ordered'),
        run: async () => {
          await client.webhooks.update(id, { ordering: isOrdered ? 'none' : 'room' });
        },
      })}
    >
      <ListOrdered aria-hidden /> {isOrdered ? 'Stop ordering' : 'Order events'}
    </ChangeButton>
  );
}

function RotateButton({ webhook: { id } }: { readonly webhook: Webhook }) {
  return (
    <ChangeButton
      change={() => ({
        question: 'Give it a new secret?',
        consequence:
          'For 24 hours webhook-signature carries the old signature too. X-Service-Webhook-Signature does not match until the receiver has the new secret.',
        verb: 'Rotate',
        isDestructive: true,
        command: writeCommand('webhooks', 'rotate', id),
        run: async () => {
          const secret = newSecret();
          await client.webhooks.put(id, { secret });
          return <Secret secret={secret} />;
        },
      })}
    >
      <KeyRound aria-hidden /> Rotate secret
    </ChangeButton>
  );
}

function DeleteButton({ webhook: { id, url } }: { readonly webhook: Webhook }) {
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="danger-quiet"
      change={() => ({
        question: 'Delete this webhook?',
        consequence: `${url} gets no further event. Its log goes with it, and what waits is cancelled.`,
        verb: 'Delete the webhook',
        isDestructive: true,
        command: writeCommand('webhooks', 'delete', id),
        run: async () => {
          await client.webhooks.delete(id);
          navigate('/webhooks');
        },
      })}
    >
      <Trash2 aria-hidden /> Delete
    </ChangeButton>
  );
}

const SECRET_BYTES = 32;

/** Generates a secret like the service: `whsec_` and the base64 of 32 random bytes. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** A signing secret, shown once. */
function Secret({ secret }: { readonly secret: string }) {
  return (
    <div className="secret">
      <p>Keep the secret now: it is not shown again.</p>
      <div className="command">
        <code>{secret}</code>
        <button
          type="button"
          className="icon"
          aria-label="Copy the secret"
          onClick={() => void navigator.clipboard.writeText(secret)}
        >
          <Copy aria-hidden />
        </button>
      </div>
    </div>
  );
}
