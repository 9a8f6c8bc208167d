import type { Described } from '../../../lib/access/audit-log.ts'

export const aChange = (organizationId: string, overrides: Partial<Described> = {}): Described => ({
  organizationId,
  actor: { kind: 'token', id: organizationId, name: 'test' },
  source: { interface: 'HTTP', ip: '203.0.113.9' },
  action: 'limits.put',
  target: { kind: 'tenant', id: 'acme' },
  changes: { warnAt: 0.5 },
  ...overrides,
})
