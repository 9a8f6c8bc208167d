import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../support/data/random.ts'
import type { ApiClient, ApiResponse } from '../../support/service/client.ts'
import type { RunFault } from '../faults/database/targeted-faults.ts'
import { createOperations } from './operations.ts'

const response = (status: number, json: object, headers = {}): ApiResponse => ({
  status,
  headers: new Headers(headers),
  text: JSON.stringify(json),
  json,
})

/** Operations on a service that accepts every run, and returns this record for it. */
function operationsOn(record: (fault: RunFault, marker: string) => object) {
  let planned: { marker: string; fault: RunFault }[] = []
  const call: ApiClient = async (method) => {
    const [{ marker, fault }] = planned as [{ marker: string; fault: RunFault }]
    return method === 'POST'
      ? response(202, {}, { 'x-execution-id': 'the-run' })
      : response(200, record(fault, marker))
  }
  const plan = (runs: typeof planned) => {
    planned = runs
  }
  return createOperations({ url: 'http://127.0.0.1:1', token: '', call, plan }, seededRandom(0, 'operations'))
}

async function throttleRuns(operations: ReturnType<typeof createOperations>): Promise<string[]> {
  const errors: string[] = []
  // Both kinds of runs occur.
  for (let run = 0; run < 20; run++) {
    await operations.perform('throttled')
    errors.push(...(await operations.settle()))
  }
  return errors
}

const success = (marker: string) => ({ status: 'SUCCESS', output: { marker, total: 66 } })

describe('createOperations', () => {
  it('expects a run whose steps can never be stored to end in an error, and the others to succeed', async () => {
    const operations = operationsOn((fault, marker) =>
      fault === 'steps throttled' ? { status: 'ERROR', output: null } : success(marker),
    )
    expect(await throttleRuns(operations)).toEqual([])
  })

  it('reports a run that succeeds although its steps cannot be stored', async () => {
    const errors = await throttleRuns(operationsOn((_, marker) => success(marker)))
    expect(new Set(errors)).toEqual(new Set(['the-run succeeded, but its steps cannot be stored.']))
  })

  it('reports a run that fails although only its first step was throttled', async () => {
    const errors = await throttleRuns(operationsOn(() => ({ status: 'ERROR', output: null })))
    expect(new Set(errors.map((error) => error.slice(0, 16)))).toEqual(new Set(['null instead of ']))
  })

  it('survives a service that refuses the connections of clients that hang up', async () => {
    const operations = operationsOn(() => ({}))
    await operations.perform('hang up')
    expect(await operations.settle()).toEqual([])
  })
})
