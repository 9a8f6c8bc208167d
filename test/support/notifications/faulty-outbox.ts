import { type Execution, isFinal } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { eventIdOf } from '../../../lib/core/notification.ts'
import { handledKey } from '../../../lib/dynamodb/table/keys.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { system } from '../../../lib/system.ts'
import { setCounted } from '../lifecycle/tables.ts'
import { itemsIn } from '../tables/items-in.ts'
import { memoryTable } from '../tables/memory-table.ts'
import { wrapTable } from '../tables/wrap-table.ts'
import { type Fault, FaultyWorker } from '../waiting/faulty-worker.ts'
import { anOutbox, BROKEN, OK } from './an-outbox.ts'

const MINUTE_MS = 60_000
const WAIT_MS = 30 * MINUTE_MS
/** Longer than the recovery from any fault: five grace periods, and a repeated delivery. */
const SETTLING_MINUTES = 14

export const ENDINGS = ['ends', 'waits', 'waits, cancelled', 'cancelled', 'cache hit', 'batch ends'] as const
export type Ending = (typeof ENDINGS)[number]

type Outbox = ReturnType<typeof anOutbox>

/**
 * Lets a run or a batch with a webhook end, whose processes fail at certain requests: workers, deliveries and the
 * sweeper.
 * @param isBroken whether the first answer of the receiver is an error
 * @returns what was requested, and what is wrong in the end
 */
export async function playOutbox(ending: Ending, faults: Fault[], isBroken: boolean) {
  const requests: string[] = []
  const problems: string[] = []
  const newWorker = () =>
    new FaultyWorker({ next: (name) => requests.push(name) - 1, before: async () => {}, faults })
  let worker: FaultyWorker | null = null
  /** As the process that is at work sends it; what nobody has to send is sent as it is. */
  const sentBy =
    (method: string) =>
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      (worker?.wrap(method, send) ?? send)(...args)
  const table = wrapTable(memoryTable(), (method, send) => sentBy(method)(send))
  const outbox = anOutbox(table, { wrap: sentBy('send') })
  const answers = isBroken ? [BROKEN] : []
  const post = sentBy('send')(async () => answers.shift() ?? OK)
  outbox.answers.set(outbox.addWebhook().id, () => post().catch(() => BROKEN))

  /** A process of its own, until its first error. @returns whether there was none */
  async function act(work: () => Promise<unknown>): Promise<boolean> {
    worker = newWorker()
    const [{ status }] = await Promise.allSettled([work()])
    const { isDead } = worker
    worker = null
    return status === 'fulfilled' && !isDead
  }

  const subject = await play(ending, outbox, act)
  const { batches, executions, deliveries } = outbox.stores
  const ids = { organizationId: outbox.organizationId, id: subject.id }
  const { endedAt = null } =
    subject.kind === 'batch'
      ? ((await batches.get(ids)) ?? {})
      : { endedAt: (await executions.getSummary(ids))?.finishedAt }
  const isHandled = async () => (await deliveries.findHandled({ subjects: [subject] })).has(subject.id)
  await settle(outbox, act, async () => {
    if (endedAt && !(await isHandled()) && (await deliveries.getPosition()) > Date.parse(endedAt))
      problems.push('The position has passed it.')
  })
  if (endedAt) {
    const all = await deliveries.listOf(subject)
    const sent = new Set(outbox.sent.map(({ eventId }) => eventId))
    const revision = subject.kind === 'batch' ? 1 : ((await executions.getSummary(ids))?.attempts ?? 0) + 1
    if (!sent.has(eventIdOf({ subject, revision }))) problems.push('Its end is not reported.')
    if (all.length !== sent.size || all.some(({ status }) => status !== 'DELIVERED'))
      problems.push(`Deliveries: ${JSON.stringify(all)}`)
    if (!(await isHandled())) problems.push('It is not handled.')
    if (outbox.messages().length > 0) problems.push('There are messages left.')
  } else if (subject.isStored) problems.push('It has not ended.')

  await remove(outbox, table, subject)
  const left = await itemsIn(table, handledKey(subject).pk)
  if (left.length > 0) problems.push(`Left: ${left.map(({ sk }) => sk)}`)
  return { requests, problems: [...subject.problems, ...problems] }
}

type Act = (work: () => Promise<unknown>) => Promise<boolean>
type Played = { kind: 'execution' | 'batch'; id: string; isStored: boolean; problems: string[] }

async function play(ending: Ending, outbox: Outbox, act: Act): Promise<Played> {
  const problems: string[] = []
  if (ending === 'batch ends') {
    const batch = await outbox.startBatch()
    while (!(await act(() => outbox.endBatch(batch))));
    return { kind: 'batch', id: batch.id, isStored: true, problems }
  }
  const { executions } = outbox.stores
  if (ending === 'cache hit') {
    const finishedAt = new Date(outbox.now()).toISOString()
    const final = { lease: null, openUntil: null, status: 'SUCCESS' as const, finishedAt }
    const execution: Execution = { ...(await outbox.start()), ...final, id: system.newId() }
    await act(() => executions.create({ execution }))
    const isStored = (await executions.getStatus(execution)) !== null
    return { kind: 'execution', id: execution.id, isStored, problems }
  }
  const run = await outbox.start()
  const stored = async () => executions.getSummary(run)
  const isOver = async () => isFinal((await stored()) ?? run)
  const cancel = async () => {
    while (!(await isOver())) await act(() => outbox.cancel(run.id, CANCELLED))
  }
  /** Another worker, as long as the run is not final. */
  const finish = async () => {
    await act(() => outbox.finish(run))
    while (!(await isOver())) {
      outbox.pass(10 * MINUTE_MS)
      const lease = { owner: system.newId(), expiresAt: outbox.now() + MINUTE_MS }
      await act(async () => {
        const claimed = await executions.claim({ id: run.id, lease, now: outbox.now() })
        if (typeof claimed === 'object') await outbox.finish(claimed)
      })
    }
  }
  const wait = async () => {
    await act(() => outbox.suspend(run, [{ kind: 'approval', id: 'ask', step: 1 }], WAIT_MS))
    if (!(await stored())?.suspension) return finish()
    if (ending === 'waits, cancelled') return cancel()
    await settle(outbox, act)
    const { suspension, attempts = 0, pendingEvents = [], openUntil } = (await stored()) ?? {}
    if (pendingEvents.length > 0) problems.push('Its event is still pending.')
    if (openUntil !== suspension?.until) problems.push('Its timer is wrong.')
    if (!outbox.sent.some(({ eventId }) => eventId === `evt_${run.id}_${attempts}`))
      problems.push('Its wait is not reported.')
    for (let i = 0; i < 3 && (await stored())?.suspension; i++) await settle(outbox, act)
    if ((await stored())?.suspension) problems.push('It waits too long.')
    return finish()
  }
  await { ends: finish, cancelled: cancel, waits: wait, 'waits, cancelled': wait }[ending]()
  return { kind: 'execution', id: run.id, isStored: true, problems }
}

/** Messages, which come again if they were not processed, and the sweeper of some minutes. */
async function settle(outbox: Outbox, act: Act, check = async () => {}): Promise<void> {
  const deliver = async () => {
    const due = outbox.messages().filter(({ visibleAt }) => visibleAt <= outbox.now())
    const visibleAt = outbox.now() + 2 * MINUTE_MS
    if (!(await act(outbox.deliver))) outbox.messages().push(...due.map((each) => ({ ...each, visibleAt })))
  }
  for (let minute = 0; minute < SETTLING_MINUTES; minute++) {
    await deliver()
    await act(outbox.resume)
    await act(outbox.sweep)
    await check()
    await deliver()
    outbox.pass(MINUTE_MS)
  }
}

async function remove(outbox: Outbox, table: ReturnType<typeof memoryTable>, { kind, id }: Played) {
  const { batches, executions } = outbox.stores
  const ids = { organizationId: outbox.organizationId, id }
  if (kind === 'batch') {
    const batch = await batches.get(ids)
    if (!batch) return
    await batches.hide({ batch, now: outbox.now() })
    return batches.remove({ batch })
  }
  await executions.delete({ ...ids, now: outbox.now() })
  for (let i = 0; i < 4; i++) {
    outbox.pass(15 * MINUTE_MS)
    await setCounted(table, outbox.now())
    await runCleanups({ executions, system: outbox.clock })
  }
}
