import { format } from '@cfworker/json-schema'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { loadPatternEngine } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { compileStrictValidator } from '../../../lib/schema/validate/validate.ts'
import { FORMAT_TEXTS, REDOS_CORPUS } from '../../schema/patterns/redos-corpus.ts'
import { anyInputs, plainSchemas, validInputs, wildSchemas } from '../../schema/random-schemas.ts'
import { medianCpuTimes } from '../../support/processes/processes.ts'

beforeAll(loadPatternEngine)

/** Twice the length may take 2.5 times as long. Times below a few milliseconds are not compared. */
function expectLinear(size: number, prepare: (size: number) => () => void): void {
  const [small = 0, large = 0] = medianCpuTimes([size, 2 * size], prepare, 5)
  expect(large).toBeLessThanOrEqual(2.5 * Math.max(small, 4))
}

function expectLinearText(field: JsonObject, size: number, makeText: (length: number) => string): void {
  const validate = compileStrictValidator({
    type: 'object',
    properties: { text: { type: 'string', ...field } },
  })
  expectLinear(size, (length) => {
    const value = { text: makeText(length) }
    return () => validate(value)
  })
}

describe('a pattern', () => {
  it.each(REDOS_CORPUS)(
    'takes time linear in the length of the text: %s',
    { retry: 3 },
    (pattern, makeText) => expectLinearText({ pattern }, 200_000, makeText),
  )
})

describe('a format', () => {
  it.each(Object.keys(format))('takes time linear in the length of the text: %s', { retry: 3 }, (name) => {
    for (const makeText of FORMAT_TEXTS) expectLinearText({ format: name }, 100_000, makeText)
  })

  it.each(['uri', 'uri-reference', 'regex'] as const)(
    'takes linear time in the schema itself: %s',
    { retry: 3 },
    (name) => {
      const check = fullFormats[name] as RegExp | ((text: string) => boolean)
      const isValid = typeof check === 'function' ? check : (text: string) => check.test(text)
      for (const makeText of FORMAT_TEXTS)
        expectLinear(100_000, (length) => {
          const text = makeText(length)
          return () => void isValid(text)
        })
    },
  )
})

describe('the data of a file', () => {
  it.each([
    (length: number) => `${'='.repeat(length)}A`,
    (length: number) => 'data:;;;;;;;;;;'.repeat(length / 15),
    (length: number) => ' '.repeat(length),
    (length: number) => '-'.repeat(length),
  ])('takes time linear in its length: %s', { retry: 3 }, (makeText) => {
    const adapt = compileAdapter({ document: { type: 'file' } })
    expectLinear(200_000, (length) => {
      const document = { mediaType: 'application/pdf', data: makeText(length) }
      return () => void adapt({ document })
    })
  })
})

const SAMPLE = { numRuns: 12, seed: 20_261_121 }
const numbered = (schemas: fc.Arbitrary<JsonObject>) =>
  fc.sample(schemas, SAMPLE).map((schema, index) => [index, schema] as const)
const listOf = (items: JsonObject): JsonObject => ({
  type: 'object',
  properties: { list: { type: 'array', items } },
})

function expectLinearList(samples: Json[], run: (input: JsonObject) => unknown): void {
  expectLinear(5_000, (length) => {
    const list = Array.from({ length }, (_, i) => structuredClone(samples[i % samples.length] ?? null))
    return () => void run({ list })
  })
}

describe('twice the input takes at most 2.5 times as long', () => {
  const inputs = fc.sample(anyInputs, { ...SAMPLE, numRuns: 50 })

  it.each(numbered(plainSchemas))('to adapt and validate: schema %i', { retry: 3 }, (_, items) => {
    const adapt = compileAdapter(listOf(items))
    const validate = compileStrictValidator(listOf(items))
    const samples = [...inputs, ...fc.sample(validInputs(items), { ...SAMPLE, numRuns: 50 })]
    expectLinearList(samples, (input) => validate(adapt(input).input))
  })

  it.each(numbered(wildSchemas))(
    'to adapt: schema %i with references and alternatives',
    { retry: 3 },
    (_, items) => {
      const adapt = compileAdapter(listOf({ $id: 'https://schemas.example/item', ...items }))
      expectLinearList(inputs, adapt)
    },
  )
})
