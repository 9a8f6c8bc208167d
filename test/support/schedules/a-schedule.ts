import { checkDocument } from '../../../lib/agents/document/check-document.ts'
import { promoteVersion } from '../../../lib/agents/lifecycle/change-agent.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import type { Schedule } from '../../../lib/core/schedule.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { toSchedule } from '../../../lib/engine/schedules/define-schedule.ts'
import { syncAgent } from '../../../lib/engine/schedules/sync-schedules.ts'
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

const SLUG = 'reports'

const documentOf = (schedules: Record<string, string>) => `---
title: Reports
input: { day: { type: string, required: false } }
output: { text: { type: string } }
schedules: ${JSON.stringify(Object.fromEntries(Object.entries(schedules).map(([name, cron]) => [name, { cron }])))}
---
Report.
`

/** An agent of a new organization, whose documents declare schedules. `on`: the table that a request uses. */
export function declaringAgent(table: Table) {
  const organizationId = system.newId()
  const id = agentIdOf(organizationId, SLUG)
  let offset = 0
  const clock = { ...system, now: () => system.now() + offset }
  const queue = { fire: async () => undefined }
  const storesOn = (on: Table) => ({ ...openStores(on), queue, system: clock })
  const stores = storesOn(table)
  const key = (name: string) => ({ organizationId, agentId: id, name })
  return {
    stores,
    storesOn,
    key,
    wait: (ms: number) => {
      offset += ms
    },
    publish: async (schedules: Record<string, string>, { on = table, draft = false } = {}) => {
      const source = { defaultSlug: SLUG, hasCode: false, withCode: '', withoutCode: '' }
      const { document, problems } = await checkDocument(documentOf(schedules), source)
      if (!document) throw new Error(JSON.stringify(problems))
      const params = { organizationId, createdBy: organizationId, agent: { document, code: null }, draft }
      const { version } = await publishAgent({ store: storesOn(on).agents, system: clock, ...params })
      return version.id
    },
    promote: (versionId: string, on = table) =>
      promoteVersion({
        ...{ store: storesOn(on).agents, system: clock, by: { by: 'author' } },
        ...{ organizationId, idOrSlug: SLUG, versionId },
      }),
    sync: (on: ReturnType<typeof storesOn> = stores) => syncAgent(on, { organizationId, agentId: id }),
    /** What the timers list of it. */
    timers: async () => {
      const found: number[] = []
      for await (const page of stores.timers.read({ before: clock.now() + 1 }))
        for (const { kind, message, openUntil } of page)
          if (kind === 'agent' && message.agentId === id) found.push(openUntil)
      return found
    },
    /** By name: `cron`, with `!` if it is not enabled, and `?` if nobody declares it. */
    schedules: async () => {
      const { items } = await stores.schedules.list({ organizationId, agentId: id, limit: 100, after: null })
      const marksOf = ({ enabled, isDeclared }: Schedule) => `${enabled ? '' : '!'}${isDeclared ? '' : '?'}`
      return Object.fromEntries(items.map((each) => [each.name, `${each.cron}${marksOf(each)}`]))
    },
    current: async () => {
      const { schedules = [] } = (await stores.agents.get({ organizationId, id }))?.current ?? {}
      return Object.fromEntries(schedules.map(({ name, cron }) => [name, cron]))
    },
    put: async (name: string, change: { enabled?: boolean; cron?: string }) => {
      const replaces = await stores.schedules.get(key(name))
      const definition = { ...aSchedule({ cron: '@hourly' }), ...replaces, ...change }
      const isDeclared = replaces?.isDeclared === true && change.cron === undefined
      const of = { parts: stores, key: key(name), tokenId: null }
      const schedule = await toSchedule({ ...of, definition, replaces, isDeclared })
      await stores.schedules.put({ schedule, replaces })
    },
  }
}
