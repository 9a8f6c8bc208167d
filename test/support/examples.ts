import type { Json } from '../../lib/core/json.ts'
import type { Example } from '../../lib/core/learning.ts'
import { system } from '../../lib/system.ts'

/** A past execution of the organization `ours` and its agent `agent`; anything may be overridden. */
export function anExample(overrides: Partial<Example> = {}): Example {
  return {
    id: system.newId(),
    organizationId: 'ours',
    agentId: 'agent',
    tenantId: null,
    input: { question: 'What is the capital of France?' },
    output: { answer: 'Paris' },
    isCorrected: false,
    rating: null,
    cached: false,
    ...overrides,
  }
}

/** The same with a question and an answer. */
export const aPair = (question: Json, answer: Json, overrides: Partial<Example> = {}): Example =>
  anExample({ input: { question }, output: { answer }, ...overrides })
