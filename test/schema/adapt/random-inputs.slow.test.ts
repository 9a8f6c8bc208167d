import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { seededRandom } from '../../support/data/random.ts'
import { plainSchemas, wildSchemas } from '../random-schemas.ts'
import { realisticGroups } from './cases/realistic-groups.ts'
import { createInputs } from './random-inputs.ts'

const INPUTS = 1_000_000
const GENERATED_SCHEMAS = 500

/** Fails with the schema and the input, which a single assertion per input would be too slow to prepare. */
function check(schema: JsonObject, adapt: ReturnType<typeof compileAdapter>, sent: JsonObject): void {
  const { input, adaptations } = adapt(sent)
  const isReported = (input === sent) === (adaptations.length === 0)
  const again = adapt(input)
  if (isReported && again.input === input && again.adaptations.length === 0) return
  expect({ schema, sent, input, adaptations, again: again.input }).toEqual({ again: input })
}

describe('compileAdapter, for a million random inputs', () => {
  const seed = Date.now() % 1_000_000_000
  const schemas = [
    ...realisticGroups.map(({ schema }) => schema),
    ...fc.sample(plainSchemas, { seed, numRuns: GENERATED_SCHEMAS }),
    ...fc.sample(wildSchemas, { seed, numRuns: GENERATED_SCHEMAS }),
  ]

  it(`reports every change, changes nothing in place, and changes nothing again (seed ${seed})`, () => {
    const random = seededRandom(seed, 'inputs')
    const batch = Math.ceil(INPUTS / schemas.length)
    for (const schema of schemas) {
      const adapt = compileAdapter(schema)
      const next = createInputs(schema, random)
      for (let count = 0; count < batch; count += 1) check(schema, adapt, next())
    }
  }, 600_000)
})
