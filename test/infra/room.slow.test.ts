import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { routes } from '../../lib/contract/routes.ts'
import { ALL_OPTIONS, OPTION_SETS } from './all-options.ts'
import { readOperations } from './api/read-definition.ts'
import type { Measured } from './room/measure-template.ts'
import { synthesize } from './synthesize.ts'

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html */
const MAX_RESOURCES = 500
const MAX_BYTES = 1_000_000

/** The families of limits, usage, trials, rollouts and access have taken the room of four that were kept for them. */
const FAMILIES = 6
const OPERATIONS = 36

/** Measures the template in a process whose routes have more operations than those of the service. */
async function measure(): Promise<Measured> {
  const script = new URL('room/measure-template.ts', import.meta.url).pathname
  const args = ['--import', new URL('room/add-operations.ts', import.meta.url).href, script]
  const environment = {
    ...process.env,
    ADDED_OPERATIONS: String(OPERATIONS),
    ADDED_FAMILIES: String(FAMILIES),
    CONTEXT: JSON.stringify(ALL_OPTIONS),
  }
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment })
  return JSON.parse(stdout)
}

describe('the template', () => {
  it('has as many resources as docs/deploy.md says, and two do not fit into one stack', () => {
    const [, ...documented] =
      /(\d+) resources with the defaults and (\d+)\s+with every option/.exec(
        readFileSync('docs/deploy.md', 'utf8'),
      ) ?? []
    const counts = [{}, ALL_OPTIONS].map(
      (context) => Object.keys(synthesize(context).toJSON().Resources).length,
    )
    console.log(`${counts[0]} resources with the defaults and ${counts[1]} with every option`)
    expect(documented.map(Number)).toEqual(counts)
    expect(2 * Number(counts[0])).toBeGreaterThan(MAX_RESOURCES)
    expect(counts[1]).toBeLessThan(MAX_RESOURCES)
  })

  it.each(Object.entries(OPTION_SETS))('has a size that CloudFormation accepts: %s', (name, context) => {
    // As the CDK writes it.
    const bytes = Buffer.byteLength(JSON.stringify(synthesize(context).toJSON()))
    console.log(`${name}: ${bytes} bytes`)
    expect(bytes).toBeLessThan(MAX_BYTES)
  })

  it('has room for 36 more operations in six families, with every option', async () => {
    const { functions, routes: count, operations, resources, bytes, readPatterns } = await measure()
    console.log(`with ${OPERATIONS} more operations ${resources} resources, ${bytes} bytes`)
    expect(functions).toBe(FUNCTION_NAMES.length + FAMILIES)
    expect(count).toBe(routes.length + OPERATIONS)
    expect(operations - readOperations(synthesize(ALL_OPTIONS)).size).toBeGreaterThan(2 * OPERATIONS)
    expect(resources).toBeLessThan(MAX_RESOURCES)
    expect(bytes).toBeLessThan(MAX_BYTES)
    // The reads of a family are measured, and not what it writes.
    const ofFamily = readPatterns.filter((pattern) => pattern.includes('made-up-operation-3"'))
    expect(ofFamily).toHaveLength(1)
    const measured = [...(ofFamily[0] ?? '').matchAll(/\$\.operation = "made-up-operation-(\d+)"/g)]
    expect(measured.map(([, number]) => number)).toEqual(['3', '15', '27'])
  })
})
