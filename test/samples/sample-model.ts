import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import type { RecordedRequest } from '../support/scripted-model/recorded-request.ts'
import type { ScriptedResponse } from '../support/scripted-model/turn.ts'

/** Responses to the cases of the sample agents, as a capable model gives them. */
export function respondToSample({ instructions, history }: RecordedRequest): ScriptedResponse {
  const input = JSON.parse(
    history.flatMap((item) => (item.type === 'text' ? item.text : []))[0] ?? '{}',
  ) as JsonObject
  if (instructions.includes('You summarize texts'))
    return { calls: [finalAnswer(summaryOf(String(input.text)))] }
  if (instructions.includes('You score how faithful')) return { calls: [finalAnswer(scoreOf(input))] }
  const hasRedacted = history.some(({ type }) => type === 'result')
  if (!hasRedacted) return { calls: [{ name: 'redact', input: { content: input.body ?? '' } }] }
  return { calls: [finalAnswer(triageOf(String(input.subject)))] }
}

function summaryOf(text: string): Json {
  return text.startsWith('The harbor bridge')
    ? {
        summary:
          'The harbor bridge reopened after eleven months of repairs to its rivets and deck. The city expects 40,000 crossings a day and has lowered the toll until March.',
        topics: ['harbor bridge', 'repairs', 'toll'],
      }
    : {
        summary: 'The text asks its reader to ignore instructions and to answer with one word.',
        topics: ['prompt injection'],
      }
}

function scoreOf({ output }: JsonObject): Json {
  const text = JSON.stringify(output)
  if (text.includes('90 million'))
    return { reason: 'The input names no cost of "90 million dollars".', score: 0.3 }
  if (text.includes('is closed'))
    return { reason: 'The input says that the bridge reopened, not that it "is closed".', score: 0 }
  return { reason: 'The input supports everything.', score: 1 }
}

function triageOf(subject: string): Json {
  return subject === 'Charged twice'
    ? {
        priority: 'normal',
        team: 'billing',
        summary: 'The customer was charged twice for order 7012 and asks for a call or an email.',
        knownIncident: false,
      }
    : {
        priority: 'low',
        team: 'technical',
        summary: 'The customer asks whether there is a dark mode.',
        knownIncident: false,
      }
}
