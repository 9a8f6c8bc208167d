import { EVENT_TYPES, type Webhook } from '../../../lib/core/notification.ts'
import { system } from '../../../lib/system.ts'

/** A new webhook that selects every event. */
export const aWebhook = (overrides: Partial<Webhook> = {}): Webhook => ({
  id: system.newId(),
  organizationId: system.newId(),
  url: 'https://receiver.example/',
  types: [...EVENT_TYPES],
  agentIds: null,
  tenantIds: null,
  sources: null,
  allowedHosts: [],
  enabled: true,
  disabledReason: null,
  failingSince: null,
  createdAt: new Date().toISOString(),
  ...overrides,
})
