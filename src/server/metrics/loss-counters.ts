import { Counter, type Registry } from 'prom-client';

/** Counts what an instance that dies or a database that is away for long leads to. */
export function createLossCounters(registry: Registry) {
  const registers = [registry];
  const takeovers = new Counter({
    name: 'rtc_lease_takeovers_total',
    help: 'Deliveries, and turns of the reconciler, that this instance took over from one that died or stood still',
    labelNames: ['kind'],
    registers,
  });
  // From the start at 0: an increase from nothing is none to Prometheus.
  for (const kind of ['delivery', 'reconciler']) takeovers.inc({ kind }, 0);
  const auditEntries = new Counter({
    name: 'rtc_audit_entries_lost_total',
    help: 'Entries of the audit log that were lost, because the database was away for too long',
    registers,
  });
  return { takeovers, auditEntries };
}
