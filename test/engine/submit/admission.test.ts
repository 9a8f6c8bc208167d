import { beforeAll, describe, expect, inject, it } from 'vitest'
import { TooManyRequests, Unavailable } from '../../../lib/core/errors.ts'
import { CANCELLED, type Execution } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table.ts'
import { admission } from '../../../lib/engine/submit/admission.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { anExecution } from '../../support/executions.ts'

const CAP = 7
const name = `admission-${system.newId()}`
const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject('dynamodb') })
const store = executionStore(table)
beforeAll(() => provisionTable(inject('dynamodb'), name))

/** Processes with one clock, one organization and one store; each admits by a memory of its own. */
function aService() {
  let now = 1_800_000_000_000
  let counts = 0
  let fault: Error | null = null
  const organizationId = system.newId()
  const countOpen: typeof store.countOpen = async (params) => {
    counts++
    const thrown = fault
    fault = null
    if (thrown) throw thrown
    return store.countOpen(params)
  }
  const record = async (organization = organizationId) => {
    const execution = anExecution({ organizationId: organization })
    await store.create({ execution })
    return execution
  }
  return {
    organizationId,
    record,
    process: (max: number) =>
      admission({ executions: { countOpen }, system: { ...system, now: () => now } }, max),
    pass: (ms: number) => {
      now += ms
    },
    failNextCount: (error: Error) => {
      fault = error
    },
    counts: () => counts,
    open: () => store.countOpen({ organizationId, max: 0 }),
  }
}

const times = <T>(n: number, start: (i: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: n }, (_, i) => start(i)))

function sorted<T>(results: PromiseSettledResult<T>[]) {
  const passed = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  return { passed, errors }
}

const end = ({ id, organizationId }: Execution) =>
  store.end({ id, organizationId, error: CANCELLED, finishedAt: new Date().toISOString() })

describe('admission', () => {
  it('lets as many of 200 at once through as the cap allows, and tells the others when to come again', async () => {
    const { organizationId, process, record, open } = aService()
    const admit = process(CAP)
    const { passed, errors } = sorted(await times(200, () => admit(organizationId, record)))
    expect(passed).toHaveLength(CAP)
    expect(errors).toHaveLength(200 - CAP)
    for (const error of errors) {
      expect(error).toBeInstanceOf(TooManyRequests)
      expect(error).toMatchObject({ status: 429, headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } })
    }
    expect(await open()).toBe(CAP)
  })

  it('lets as many more through as have ended', async () => {
    const { organizationId, process, record, open, pass } = aService()
    const admit = process(CAP)
    const { passed } = sorted(await times(20, () => admit(organizationId, record)))
    await Promise.all(passed.slice(0, 3).map(end))
    // It is refused without a count for so short a time only.
    pass(1_000)
    expect(sorted(await times(20, () => admit(organizationId, record))).passed).toHaveLength(3)
    expect(await open()).toBe(CAP)
  })

  it('counts what is open when its process is a new one', async () => {
    const { organizationId, process, record } = aService()
    const begun = sorted(await times(CAP - 2, () => process(CAP)(organizationId, record)))
    expect(begun.passed).toHaveLength(CAP - 2)
    const admit = process(CAP)
    expect(sorted(await times(20, () => admit(organizationId, record))).passed).toHaveLength(2)
  })

  it('seldom counts while the cap is far', async () => {
    const { organizationId, process, record, counts, open } = aService()
    const admit = process(1_000)
    for (let i = 0; i < 200; i++) await admit(organizationId, record)
    expect(await open()).toBe(200)
    expect(counts()).toBeLessThanOrEqual(5)
  })

  it('lets as many through as the cap allows when it comes near from afar', async () => {
    const { organizationId, process, record, open } = aService()
    const admit = process(60)
    const results = []
    for (let i = 0; i < 90; i++) results.push(...(await times(1, () => admit(organizationId, record))))
    expect(sorted(results).passed).toHaveLength(60)
    expect(await open()).toBe(60)
  })

  it('counts again after a while, for others begin and end runs too', async () => {
    const { organizationId, process, record, counts, pass } = aService()
    const admit = process(1_000)
    for (let i = 0; i < 3; i++) {
      await admit(organizationId, record)
      await admit(organizationId, record)
      pass(60_000)
    }
    expect(counts()).toBe(3)
  })

  it('keeps to the cap near it when two processes take turns', async () => {
    const { organizationId, process, record, open, pass } = aService()
    const [first, second] = [process(CAP), process(CAP)]
    const running: Execution[] = []
    let begun = 0
    for (let i = 0; i < 60; i++) {
      const { passed } = sorted(await times(1, () => (i % 2 === 0 ? first : second)(organizationId, record)))
      running.push(...passed)
      begun += passed.length
      expect(await open()).toBeLessThanOrEqual(CAP)
      if (i % 10 !== 9) continue
      await Promise.all(running.splice(0, 1).map(end))
      pass(1_000)
    }
    // Each place that was free again was taken, but for the last.
    expect(begun).toBe(CAP + 5)
  })

  it('does not let one organization’s runs count for another', async () => {
    const { organizationId, process, record } = aService()
    const admit = process(CAP)
    const other = system.newId()
    const [ours, theirs] = await Promise.all([
      times(20, () => admit(organizationId, record)),
      times(CAP, () => admit(other, () => record(other))),
    ])
    expect(sorted(ours).passed).toHaveLength(CAP)
    expect(sorted(theirs).passed).toHaveLength(CAP)
  })

  it.each([CAP, 1_000])('tells one caller that it could not count, below a cap of %i', async (cap) => {
    const { organizationId, process, record, failNextCount } = aService()
    const admit = process(cap)
    const fault = new Unavailable(new Error('no answer'))
    failNextCount(fault)
    const { passed, errors } = sorted(await times(CAP + 1, () => admit(organizationId, record)))
    expect(errors).toEqual([fault])
    expect(passed).toHaveLength(CAP)
  })

  it.each([CAP, 1_000])('tells one caller that it could not record, below a cap of %i', async (cap) => {
    const { organizationId, process, record, open } = aService()
    const admit = process(cap)
    const fault = new Unavailable(new Error('no answer'))
    const recordOrFail = (i: number) => (i === 2 ? Promise.reject(fault) : record())
    const { passed, errors } = sorted(
      await times(CAP + 1, (i) => admit(organizationId, () => recordOrFail(i))),
    )
    expect(errors).toEqual([fault])
    expect(passed).toHaveLength(CAP)
    expect(await open()).toBe(CAP)
  })
})
