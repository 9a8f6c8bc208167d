import { describe, expectTypeOf, it } from 'vitest'
import type * as z from 'zod'
import {
  AgentError,
  Client,
  type ErrorCode,
  type Execution,
  type ExecutionError,
  type SucceededExecution,
  type Violation,
} from '../../../clients/typescript/src/index.ts'
import type { ExecutionFilters, RunParameters } from '../../../clients/typescript/src/options.ts'
import type { executionPageParameters, runParameters } from '../../../lib/contract/parameters.ts'

type Agents = {
  'redact-pii': { input: { content: string }; output: { redactedContent: string } }
  wait: { input: { seconds: number }; output: { waitedSeconds: number } }
}

const options = { baseUrl: 'http://127.0.0.1:1', token: 'x' }
const client = new Client<Agents>(options)
const untyped = new Client(options)

/** Checked by `tsc`, never run. */
const never = (_: () => unknown) => undefined

describe('types', () => {
  it('of a client with a map of agents', () => {
    never(async () => {
      expectTypeOf(await client.run('redact-pii', { content: 'x' })).toEqualTypeOf<{
        redactedContent: string
      }>()
      expectTypeOf(await client.start('wait', { seconds: 1 })).toEqualTypeOf<
        Execution<{ waitedSeconds: number }>
      >()
      const started = await client.start('wait', { seconds: 1 })
      expectTypeOf(await client.wait(started)).toEqualTypeOf<SucceededExecution<{ waitedSeconds: number }>>()
      expectTypeOf((await client.wait(started)).output.waitedSeconds).toBeNumber()
      expectTypeOf((await client.wait('id')).output).toEqualTypeOf<Record<string, unknown>>()
      for await (const { event, data } of client.stream('wait', { seconds: 1 }))
        if (event === 'done') expectTypeOf(data.output).toEqualTypeOf<{ waitedSeconds: number } | null>()
      // @ts-expect-error: no such agent
      client.run('redact', { content: 'x' })
      // @ts-expect-error: a field with another name
      client.run('redact-pii', { contents: 'x' })
      // @ts-expect-error: a field is missing
      client.run('redact-pii', {})
      // @ts-expect-error: a field of another type
      client.run('wait', { seconds: '1' })
      // @ts-expect-error: no such option
      client.run('wait', { seconds: 1 }, { cache: true })
      // @ts-expect-error: an output has no such field
      ;(await client.run('wait', { seconds: 1 })).seconds
    })
  })

  it('of a client without a map', () => {
    never(async () => {
      expectTypeOf(await untyped.run('any', { a: 1 })).toEqualTypeOf<Record<string, unknown>>()
      // @ts-expect-error: an input is an object
      untyped.run('any', 'text')
    })
  })

  it('of errors, by their code', () => {
    never((error: unknown = undefined) => {
      if (!(error instanceof AgentError)) return
      expectTypeOf(error.status).toBeNumber()
      expectTypeOf(error.message).toBeString()
      switch (error.code) {
        case 'ExecutionFailed':
          expectTypeOf(error.executionId).toBeString()
          expectTypeOf(error.error).toEqualTypeOf<ExecutionError>()
          break
        case 'InputSchemaMismatch':
          expectTypeOf(error.errors).toEqualTypeOf<Violation[]>()
          break
        case 'ClientTimeout':
          expectTypeOf(error.executionId).toEqualTypeOf<string | undefined>()
          break
        case 'Unauthorized':
          // @ts-expect-error: only some codes have an execution
          error.executionId
          break
        // @ts-expect-error: no such code
        case 'NoSuchCode':
          break
      }
      expectTypeOf<ErrorCode>().toExtend<typeof error.code>()
    })
  })
})

describe('the contract', () => {
  it('has the parameters of a run', () => {
    type Parameters = Omit<z.output<typeof runParameters>, 'execMode'>
    expectTypeOf<RunParameters>().toEqualTypeOf<Parameters>()
  })

  it('has the filters of executions', () => {
    type Filters = Omit<z.output<typeof executionPageParameters>, 'cursor' | 'limit' | 'fields'>
    expectTypeOf<Omit<ExecutionFilters, 'agent'>>().toEqualTypeOf<Filters>()
  })
})
