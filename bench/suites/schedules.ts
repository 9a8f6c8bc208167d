import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Version } from '../../lib/core/agent.ts'
import { CATCH_UP_SECONDS, firingExecutionId, type Schedule } from '../../lib/core/schedule.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { aSchedule as scheduleOf } from '../../test/support/schedules/a-schedule.ts'
import { toSpread } from '../harness/rounds.ts'
import { NO_OP } from '../harness/runs.ts'
import { publish, startService } from '../harness/service.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const FULL = { organizations: 100, schedules: 100 }
const QUICK = { organizations: 30, schedules: 100 }
const CONCURRENCY = 32
/** What storing a schedule may take. */
const SETUP_MS = 15
const MINUTE_MS = 60_000
const MAX_LATE_MS = 5 * MINUTE_MS
/** Ids that one request looks for. */
const SLICE = 100

/** How late the executions of many schedules are accepted that are due in the same minute. */
export async function schedules({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { organizations, schedules: each } = quick ? QUICK : FULL
  const service = await startService(workspace)
  const stores = openStores(service.table)
  const versions: Version[] = []
  for (let i = 0; i < organizations; i++)
    versions.push(await publish(workspace, service.table, { ...NO_OP, organizationId: system.newId() }))
  const dueAt = Math.ceil((Date.now() + organizations * each * SETUP_MS) / MINUTE_MS + 1) * MINUTE_MS
  const all = versions.flatMap((version) =>
    Array.from({ length: each }, (_, index) => aSchedule(version, `s${index}`, dueAt)),
  )
  const limit = pLimit(CONCURRENCY)
  await Promise.all(all.map((schedule) => limit(() => stores.schedules.put({ schedule, replaces: null }))))
  log(`${all.length} schedules are stored, and due in ${Math.round((dueAt - Date.now()) / 1000)} s`)
  if (Date.now() > dueAt - MINUTE_MS) throw new Error('The machine is too slow: the sweeper may be late.')
  await sleep(dueAt - Date.now())
  const ids = all.map((schedule) => firingExecutionId(schedule, dueAt))
  for (let first = 0; first < ids.length; ) {
    const slice = ids.slice(first, first + SLICE)
    // The database may be too busy to answer.
    const found = await stores.executions.findExisting({ ids: slice, orRefused: false }).catch(() => null)
    if (found?.size === slice.length) first += SLICE
    else if (Date.now() > dueAt + MAX_LATE_MS) throw new Error(`Some of ${all.length} firings did not start.`)
    else await sleep(1_000)
  }
  const latenessOf = async ({ organizationId }: Schedule, id: string): Promise<number> => {
    const { createdAt = '' } = (await stores.executions.getSummary({ organizationId, id })) ?? {}
    return (Date.parse(createdAt) - dueAt) / 1000
  }
  const seconds = await Promise.all(
    all.map((schedule, index) => limit(() => latenessOf(schedule, ids[index] ?? ''))),
  )
  return {
    figures: { firingLateness: toSpread([Math.max(...seconds)]) },
    details: {
      title: `Lateness of ${all.length} firings of ${organizations} organizations, due in the same minute, in seconds`,
      rows: spreadRows({ lateness: seconds }),
    },
  }
}

/** Due once a day, at this time. */
function aSchedule({ organizationId, agentId }: Version, name: string, dueAt: number): Schedule {
  const due = new Date(dueAt)
  const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`
  const updatedAt = new Date().toISOString()
  return scheduleOf({
    ...{
      organizationId,
      agentId,
      name,
      cron,
      overlap: 'skip',
      input: { text: 'x' },
      createdAt: updatedAt,
      updatedAt,
    },
    ...{ catchUpSeconds: CATCH_UP_SECONDS.default, nextRunAt: due.toISOString(), openUntil: dueAt },
  })
}
