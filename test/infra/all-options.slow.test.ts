import { App } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { readSettings, SETTINGS } from '../../infra/settings.ts'
import { OPTION_SETS } from './all-options.ts'
import { synthesize } from './synthesize.ts'

const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]
const sets = Object.entries(OPTION_SETS)
const valuesOf = (set: Record<string, unknown>) => readSettings(new App({ context: set }).node)
const defaults = valuesOf({})

/** The maximum of CloudFormation. */
const MAX_RESOURCES = 500

describe('OPTION_SETS', () => {
  it.each(names)('have %s with another value than its default', (name) => {
    const changed = sets.filter(([, set]) => valuesOf(set)[name] !== defaults[name])
    expect(changed.length, name).toBeGreaterThan(0)
  })

  it.each(sets)('fit into a stack: %s', (_, set) => {
    expect(Object.keys(synthesize(set).toJSON().Resources).length).toBeLessThan(MAX_RESOURCES)
  })
})
