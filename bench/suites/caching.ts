import { costOfLongConversation } from '../../test/support/scripted-model/long-conversation.ts'
import { startScriptedModel } from '../../test/support/scripted-model/start-scripted-model.ts'
import { toSpread } from '../harness/rounds.ts'
import type { Row, SuiteResult } from '../report.ts'

const FORMATS = ['anthropic', 'bedrock'] as const

/**
 * What the input of a run of 20 steps costs with prompt caching and without, computed from the marks and the bytes that
 * a server receives. Each request has all steps before it.
 */
export async function caching(): Promise<SuiteResult> {
  const server = await startScriptedModel()
  const rows: Row[] = []
  const ratios: number[] = []
  for (const format of FORMATS) {
    const { cached, uncached } = await costOfLongConversation(server, format)
    ratios.push(cached / uncached)
    rows.push({
      provider: format,
      'input tokens without caching': Math.round(uncached),
      'as many as with caching': Math.round(cached),
    })
  }
  await server.stop()
  return {
    figures: { promptCost: toSpread(ratios) },
    details: {
      title: 'Input tokens of a run of 20 steps, 5,000 for the first and 2,000 more with each',
      rows,
    },
  }
}
