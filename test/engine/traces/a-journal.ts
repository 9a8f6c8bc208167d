import { attemptId } from '../../../lib/core/attempts.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { FINAL_ANSWER, type ToolResult } from '../../../lib/core/model.ts'
import type { CallResult, RecordedStep } from '../../../lib/core/step.ts'
import { anExecution, modelStep, toolCall } from '../../support/engine/executions.ts'

export const at = (seconds: number) => new Date(1_780_000_000_000 + seconds * 1_000).toISOString()

/** Everywhere where payloads are. */
export const SECRET = 'confidential'

const USAGE = { inputTokens: 30, outputTokens: 12, costUsd: 0.25 }

export const aRun = (overrides: Partial<Execution> = {}): Execution => ({
  ...anExecution({ input: { text: SECRET } }),
  status: 'SUCCESS',
  output: { text: SECRET },
  model: 'bedrock/amazon.nova-lite-v1:0:low',
  createdAt: at(0),
  finishedAt: at(60),
  steps: 1,
  usage: USAGE,
  ...overrides,
})

const times = (from: number, to: number) => ({ startedAt: at(from), finishedAt: at(to) })

export const resultOf = (callId: string, result: ToolResult, from: number, to: number): CallResult => ({
  callId,
  result,
  ...times(from, to),
})

export const recorded = (step: RecordedStep['step'], ...results: CallResult[]): RecordedStep => ({
  step,
  results: new Map(results.map((each) => [each.callId, each])),
})

/** A response with a call that succeeds, one that fails after an approval, one without a result, and an answer. */
export const modelJournal = (): RecordedStep[] => [
  recorded(
    modelStep({
      model: 'bedrock/amazon.nova-lite-v1:0:low',
      startedAt: at(1),
      finishedAt: at(3),
      text: SECRET,
      usage: { ...USAGE, cachedInputTokens: 20, cacheWriteTokens: 5, reasoningTokens: 2 },
      calls: [
        toolCall('c1', 'look_up', { q: SECRET }),
        {
          ...toolCall('c2', 'refund', { q: SECRET }),
          approval: { id: 'a2', until: at(99), inputSchema: {} },
        },
        toolCall('c3', 'never'),
        toolCall('c4', FINAL_ANSWER, { text: SECRET }),
      ],
    }),
    resultOf('c1', { ok: true, value: SECRET }, 3, 5),
    resultOf('a2', { ok: true, value: { note: SECRET } }, 40, 41),
    resultOf('c2', { ok: false, error: SECRET }, 42, 43),
    resultOf('c4', { ok: false, error: SECRET }, 43, 44),
  ),
]

/** A step, one that fails, one that runs an agent, a wait that has ended and one that has not. */
export const codeJournal = (): RecordedStep[] => {
  return [
    recorded({ kind: 'CODE', number: 1, name: 'load', value: SECRET, ...times(1, 2) }),
    recorded(
      { kind: 'CODE', number: 2, name: 'save', ...times(2, 3) },
      {
        ...resultOf(attemptId(1), { ok: false, error: SECRET }, 2, 3),
        failure: { name: 'TypeError', retryAt: at(4) },
      },
      {
        ...resultOf(attemptId(2), { ok: false, error: SECRET }, 4, 6),
        failure: { name: 'Error', code: 'E_SAVE', retryAt: null },
      },
    ),
    recorded(
      { kind: 'CODE', number: 3, name: 'ask', agent: 'other', ...times(6, 6) },
      resultOf(attemptId(1), { ok: true, value: SECRET, executionId: 'child' }, 6, 9),
    ),
    recorded(
      { kind: 'WAIT', number: 4, name: 'nap', wait: { kind: 'sleep', until: at(20) }, ...times(9, 9) },
      resultOf('wait', { ok: true, value: null }, 20, 20),
    ),
    recorded({
      ...{ kind: 'WAIT', number: 5, name: 'paid', ...times(21, 21) },
      wait: { kind: 'signal', signals: ['paid'], isAny: false, until: null },
    }),
  ]
}
