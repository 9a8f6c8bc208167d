import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { compileStrictValidator } from '../../../lib/schema/validate/validate.ts'
import { anyInputs, plainSchemas, validInputs, wildSchemas } from '../../schema/random-schemas.ts'
import { medianCpuTimes } from '../../support/processes/processes.ts'

const SAMPLE = { numRuns: 12, seed: 20_261_121 }
const numbered = (schemas: fc.Arbitrary<JsonObject>) =>
  fc.sample(schemas, SAMPLE).map((schema, index) => [index, schema] as const)
const listOf = (items: JsonObject): JsonObject => ({
  type: 'object',
  properties: { list: { type: 'array', items } },
})

function expectLinear(samples: Json[], run: (input: JsonObject) => unknown): void {
  const [small = 0, large = 0] = medianCpuTimes(
    [5_000, 10_000],
    (length) => {
      const list = Array.from({ length }, (_, i) => structuredClone(samples[i % samples.length] ?? null))
      return () => void run({ list })
    },
    5,
  )
  expect(large).toBeLessThanOrEqual(2.5 * Math.max(small, 4))
}

describe('twice the input takes at most 2.5 times as long', () => {
  const inputs = fc.sample(anyInputs, { ...SAMPLE, numRuns: 50 })

  it.each(numbered(plainSchemas))('to adapt and validate: schema %i', { retry: 3 }, (_, items) => {
    const adapt = compileAdapter(listOf(items))
    const validate = compileStrictValidator(listOf(items))
    const samples = [...inputs, ...fc.sample(validInputs(items), { ...SAMPLE, numRuns: 50 })]
    expectLinear(samples, (input) => validate(adapt(input).input))
  })

  it.each(numbered(wildSchemas))(
    'to adapt: schema %i with references and alternatives',
    { retry: 3 },
    (_, items) => {
      const adapt = compileAdapter(listOf({ $id: 'https://schemas.example/item', ...items }))
      expectLinear(inputs, adapt)
    },
  )
})
