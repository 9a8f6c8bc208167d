import { describe, expect, it } from 'vitest'
import { type RunFault, targetFaults } from './targeted-faults.ts'

const RUN = 'EXEC#run'
const CHILD = 'EXEC#child'

/** The faults of one run with the marker `m`, its child, and one that gets none. */
function target(fault: RunFault) {
  const killed: string[] = []
  const targeted = targetFaults({ seed: 1, leaseMs: 60_000, kill: (client) => killed.push(client) })
  targeted.plan([
    { marker: 'm', fault },
    { marker: 'other', fault: null },
  ])
  const send = (operation: string, pk: string, sk: string, fields: object = {}) => {
    const key = { pk: { S: pk }, sk: { S: sk } }
    const body = operation === 'PutItem' ? { Item: { ...key, ...fields } } : { Key: key, ...fields }
    return targeted.inject({ operation, body: Buffer.from(JSON.stringify(body)), client: 'runner' })
  }
  const inputOf = (marker: string) => ({ input: { M: { json: { S: JSON.stringify({ marker }) } } } })
  const create = {
    run: () => send('PutItem', RUN, 'RECORD', inputOf('m')),
    child: () => send('PutItem', CHILD, 'RECORD', { ...inputOf('c'), parentExecutionId: { S: 'run' } }),
    other: () => send('PutItem', 'EXEC#other', 'RECORD', inputOf('other')),
  }
  const finish = (status: string) => ({ ExpressionAttributeValues: { ':status': { S: status } } })
  return { send, create, finish, killed, counts: targeted.counts }
}

const times = <T>(count: number, send: () => T): T[] => Array.from({ length: count }, send)

describe('targetFaults', () => {
  it('throttles every step of the run, but neither results of calls nor other runs', () => {
    const { send, create, counts } = target('steps throttled')
    create.run()
    create.other()
    expect(times(50, () => send('PutItem', RUN, 'STEP#00001'))).toEqual(Array(50).fill('throttle'))
    expect(send('PutItem', RUN, 'STEP#00001#CALL#x')).toBeNull()
    expect(send('UpdateItem', RUN, 'RECORD')).toBeNull()
    expect(send('PutItem', 'EXEC#other', 'STEP#00001')).toBeNull()
    expect(counts['steps throttled']).toBe(50)
  })

  it('throttles the first requests only', () => {
    const { send, create } = target('first step throttled')
    create.run()
    expect(times(6, () => send('PutItem', RUN, 'STEP#00001'))).toEqual([
      ...Array(4).fill('throttle'),
      null,
      null,
    ])
  })

  it('throttles the same share of the writes with the same seed', () => {
    const counts = [1, 2].map(() => {
      const { send, create } = target('writes throttled at times')
      create.run()
      return times(200, () => send('UpdateItem', RUN, 'RECORD')).filter(Boolean).length
    })
    expect(counts[0]).toBe(counts[1])
    expect(counts[0]).toBeGreaterThan(30)
    expect(counts[0]).toBeLessThan(90)
  })

  it('lets a run fail, renew its lease and be read while its success is throttled', () => {
    const { send, create, finish } = target('result throttled')
    create.run()
    expect(send('UpdateItem', RUN, 'RECORD', finish('SUCCESS'))).toBe('throttle')
    expect(send('UpdateItem', RUN, 'RECORD', finish('ERROR'))).toBeNull()
    expect(send('UpdateItem', RUN, 'RECORD', finish('IN_PROGRESS'))).toBeNull()
    expect(send('GetItem', RUN, 'RECORD')).toBeNull()
  })

  it('kills the process that stores a step, more often than a run has attempts', () => {
    const { send, create, killed } = target('worker dies while it stores')
    create.run()
    expect(times(10, () => send('PutItem', RUN, 'STEP#00001')).filter((effect) => effect === 'hang')).toEqual(
      Array(8).fill('hang'),
    )
    expect(killed).toEqual(Array(8).fill('runner'))
  })

  it('finds the agents that a run calls', () => {
    const { send, create } = target('steps of child throttled')
    create.run()
    expect(create.child()).toBeNull()
    expect(send('PutItem', CHILD, 'STEP#00001')).toBe('throttle')
    expect(send('PutItem', RUN, 'STEP#00001')).toBeNull()
  })

  it('throttles the creation of a child, but not that of its run', () => {
    const { create } = target('child not created at first')
    expect(create.run()).toBeNull()
    expect(times(5, create.child)).toEqual([...Array(4).fill('throttle'), null])
  })
})
