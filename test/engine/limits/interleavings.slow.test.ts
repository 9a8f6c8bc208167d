import { describe, expect, inject, it } from 'vitest'
import { isFinal } from '../../../lib/core/execution.ts'
import type { SubmitEngine } from '../../../lib/engine/submit/accept.ts'
import { LimitedService } from '../../support/limits/limited-service.ts'
import { ownTable } from '../../support/tables/memory-table.ts'
import { FAULT_KINDS, type FaultKind, FaultyWorker } from '../../support/waiting/faulty-worker.ts'

const table = await ownTable()

/** One execution runs, another one waits for its slot. */
type World = { service: LimitedService; first: string; second: string; ids: Set<string> }
type Act = (world: World, engine?: SubmitEngine) => Promise<unknown>

const ACTS: Record<string, Act> = {
  submit: async ({ service, ids }, engine) => ids.add((await service.submit({}, engine)).id),
  end: ({ service, first }, engine) => service.end(first, engine),
  'end both': async ({ service, first, second }, engine) => {
    await service.end(first, engine)
    await service.deliver(engine)
    await service.end(second, engine)
  },
  'cancel the running one': ({ service, first }, engine) => service.cancel(first, engine),
  'cancel the waiting one': ({ service, second }, engine) => service.cancel(second, engine),
  deliver: ({ service }, engine) => service.deliver(engine),
  timer: async ({ service, second }, engine) => {
    const { organizationId } = service
    await service.receive({ executionId: second, organizationId, tenantId: 'acme', wakes: true }, engine)
  },
}
const NAMES = Object.keys(ACTS)

type Hook = { at: number; event?: Act; fault?: FaultKind }

/** One act of a process, at one of whose requests something else happens. Returns how many requests it has sent. */
async function play(act: Act, { at, event, fault }: Hook): Promise<{ requests: number; problems: string[] }> {
  const service = new LimitedService(table)
  await service.limit(service.tenant(), { maxOpenExecutions: 1, queueWhenFull: true })
  const submit = async () => {
    const { id } = await service.submit()
    service.pass(1)
    return id
  }
  const [first, second] = [await submit(), await submit()]
  await service.deliver()
  const world: World = { service, first, second, ids: new Set([first, second]) }
  let requests = 0
  const worker = new FaultyWorker({
    next: () => requests++,
    before: async (position) => {
      if (position === at) await event?.(world)
    },
    faults: fault ? [{ at, kind: fault }] : [],
  })
  const queue = { ...service.queue, send: worker.wrap('send', service.queue.send) }
  const acting = act(world, { ...service.engine(worker.tableOf(table)), queue })
  await acting.catch((error: unknown) => {
    if (!fault) throw error
  })
  for (const id of await service.takeOver()) world.ids.add(id)
  const problems: string[] = []
  const check = async () => {
    const executions = await Promise.all([...world.ids].map((id) => service.read(id)))
    const open = executions.filter((each) => !isFinal(each) && !each.suspension)
    if (open.length > 1) problems.push(`${open.length} are in progress`)
    return executions
  }
  await check()
  // Without faults, each end starts the next one at once.
  for (let i = 0; !fault && i < 5; i++) {
    await service.deliver()
    await check()
    for (const id of [...service.running.keys()]) await service.end(id)
  }
  const left = fault ? await service.settle([...world.ids]) : []
  for (const { id, status, error } of await check()) {
    if (status === 'IN_PROGRESS' || left.includes(id)) problems.push(`${id} does not end`)
    if (!service.started.includes(id) && error?.code !== 'Cancelled') problems.push(`${id} has not run`)
  }
  if (new Set(service.started).size < service.started.length) problems.push('one has started twice')
  const beforeSecond = service.started.slice(0, Math.max(service.started.indexOf(second), 0))
  if (beforeSecond.some((id) => id !== first)) problems.push('a later one was first')
  if (!fault && (await service.slots(service.tenant())) > 0) problems.push('a slot is kept')
  if ((await service.queued(service.tenant())).length > 0) problems.push('the queue is not empty')
  return { requests, problems }
}

/** In the night, each request; else a sample, which differs from hook to hook. */
const STRIDE = inject('isNightly') ? 1 : 5
let hooks = 0

/** Plays the act with the hook at each of its requests in turn. */
async function playAll(name: string, hook: Omit<Hook, 'at'>): Promise<string[]> {
  const found: string[] = []
  for (let at = (hooks++ * 2) % STRIDE, requests = at + 1; at < requests; at += STRIDE) {
    const played = await play(ACTS[name] as Act, { ...hook, at })
    requests = played.requests
    found.push(...played.problems.map((problem) => `at ${at}: ${problem}`))
  }
  return found
}

describe('a limit of one open execution', () => {
  describe.each(NAMES)('while a process does this: %s', (name) => {
    it.each(NAMES)('holds, in order and promptly, whenever another does this: %s', async (event) => {
      expect(await playAll(name, { event: (world) => (ACTS[event] as Act)(world) })).toEqual([])
    })

    it.each(FAULT_KINDS)('holds at every request that ends so: %s', async (fault) => {
      expect(await playAll(name, { fault })).toEqual([])
    })
  })
})
