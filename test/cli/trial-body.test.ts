import { describe, expect, it } from 'vitest'
import { inOptions } from '../../cli/trials/trial-body.ts'

describe('inOptions', () => {
  it.each([
    [
      '/maxTrialCostUsd is required, because the trial calls models.',
      '--max-cost is required, because the trial calls models.',
    ],
    [
      '/tools/refund must be "recorded": see /etc/tools.',
      '--tools refund must be "recorded": see /etc/tools.',
    ],
    ['/executions/3 is not an execution of the agent.', '--executions 3 is not an execution of the agent.'],
    ['The agent has no executions in this time.', 'The agent has no executions in this time.'],
  ])('names the option: %s', (message, expected) => {
    expect(inOptions(message)).toBe(expected)
  })
})
