import { expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json/json.ts'
import type { Recording } from '../../../lib/core/recording.ts'
import type { CallResult, RecordedModelStep, StepCall } from '../../../lib/core/step.ts'
import { RecordedRun } from '../../../lib/engine/replay/recorded-run.ts'
import type { ToolDocument } from '../../../lib/tools/document/tool-fields.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { replayOf } from '../../support/replay/a-replay.ts'

const at = '2026-01-01T00:00:00.000Z'

function stepOf(number: number, calls: StepCall[]): RecordedModelStep {
  const usage = { inputTokens: 0, outputTokens: 0 }
  const made = {
    messages: [],
    text: '',
    usage,
    stopReason: 'tool-calls',
    startedAt: at,
    finishedAt: at,
  } as const
  const resultOf = (callId: string): CallResult => {
    const result = { ok: true, value: callId } as const
    return { callId, result, startedAt: at, finishedAt: at }
  }
  const results = new Map(calls.map(({ id }) => [id, resultOf(id)]))
  return { step: { kind: 'MODEL', number, calls, ...made, messages: [] }, results }
}

it('hashes the input of each call once, however often it is looked for', () => {
  let reads = 0
  const input = (id: number) =>
    Object.defineProperty({}, 'id', { enumerable: true, get: () => ++reads && id }) as Json
  const approval = { id: 'a', until: at, inputSchema: {} } as unknown as NonNullable<StepCall['approval']>
  const callsOf = (prefix: string): StepCall[] =>
    Array.from({ length: 30 }, (_, index) => ({
      ...{ id: `${prefix}${index}`, name: 'look', input: input(index % 3), error: null, approval },
    }))
  const recorded: RecordedModelStep[] = []
  const journal = { recorded, appendResult: async () => undefined }
  const steps = [stepOf(1, callsOf('o')), stepOf(2, callsOf('p'))]
  const recording = { original: {}, steps } as unknown as Recording
  const replay = replayOf({ id: 'original' })
  const run = new RecordedRun({ replay, recording, options: runOptions(), journal, refuses: () => false })
  const opened = reads
  for (const number of [1, 2]) {
    const calls = run.withApprovals(callsOf(`${number}-`), number)
    const { step } = stepOf(number, calls)
    recorded.push({ step, results: new Map() })
    const document = { name: 'look' } as ToolDocument
    const found = calls.map(({ id }) => run.resultOf(document, `${number}-${id}`))
    expect(found.map((result) => result?.ok && result.value)).toEqual(
      calls.map((_, index) => `${number === 1 ? 'o' : 'p'}${index}`),
    )
  }
  // As many calls as the original has.
  expect(reads).toBe(2 * opened)
})
