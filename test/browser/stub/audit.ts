import type { AuditRecord } from '../../../lib/contract/records/audit.ts'
import { idOf } from './records.ts'

/** @param number a higher one is older */
export const anAuditEntry = (number: number, overrides: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ id: idOf(2_000_000 - number), at: '2026-11-20T09:00:00.000Z' },
  actor: { kind: 'token', id: idOf(4), name: 'ci' },
  source: { interface: 'HTTP', ip: '203.0.113.9', userAgent: 'curl/8.14.1' },
  ...{ action: 'limits.put', target: { kind: 'tenant', id: 'acme' } },
  ...{ changes: { maxOpenExecutions: 3 }, result: 'SUCCEEDED' },
  ...overrides,
})
