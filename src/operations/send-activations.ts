import type { Activation } from '../domain/activation';
import { LONGEST_QUEUE_DELAY_MS } from '../domain/conclude';
import type { OutgoingMessage, Ports } from '../ports';

export type ActivationPorts = Pick<Ports, 'clock' | 'activations' | 'highActivations'>;

/** An activation and the instant, in epoch ms, before which no runner is to have it. */
export interface Departure {
  activation: Activation;
  deliverAt: number;
}

/**
 * Sends them to the queues of their priorities. What lies beyond the longest delay of a queue arrives early, and is sent again
 * then. Throws when some were not accepted, others may have been.
 */
export async function sendActivations(
  departures: readonly Departure[],
  { clock, activations, highActivations }: ActivationPorts,
): Promise<void> {
  const now = clock.now();
  const messages = { high: [] as OutgoingMessage[], normal: [] as OutgoingMessage[] };
  for (const { activation, deliverAt } of departures) {
    const delayMs = Math.min(Math.max(0, deliverAt - now), LONGEST_QUEUE_DELAY_MS);
    messages[activation.priority ?? 'normal'].push({
      body: JSON.stringify(activation),
      ...(delayMs > 0 ? { delayMs } : {}),
    });
  }
  if (messages.high.length > 0) await highActivations.send(messages.high);
  if (messages.normal.length > 0) await activations.send(messages.normal);
}
