import type { Schedule } from '../../../lib/core/schedule.ts'
import { system } from '../../../lib/system.ts'

/** An enabled schedule of a new agent, which fires every day at noon in UTC. */
export const aSchedule = (overrides: Partial<Schedule> = {}): Schedule => ({
  organizationId: system.newId(),
  agentId: system.newId(),
  name: 'every-day',
  cron: '0 12 * * *',
  timezone: 'UTC',
  input: { content: 'Good morning' },
  tenantId: null,
  options: {},
  versionId: null,
  enabled: true,
  overlap: 'allow',
  catchUpSeconds: 0,
  isDeclared: false,
  tokenId: null,
  createdAt: '2040-11-25T00:00:00.000Z',
  updatedAt: '2040-11-25T00:00:00.000Z',
  revision: '',
  nextRunAt: '2040-11-25T12:00:00.000Z',
  openUntil: Date.parse('2040-11-25T12:00:00.000Z'),
  waitsUntil: null,
  lastExecutionId: null,
  firings: [],
  ...overrides,
})
