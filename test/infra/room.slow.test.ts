import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { routes } from '../../lib/api/routes.ts'
import { ALL_OPTIONS } from './all-options.ts'
import type { Measured } from './room/measure-template.ts'

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html */
const MAX_RESOURCES = 500
const MAX_BYTES = 1_000_000

/** The families of limits, usage, trials, rollouts and access have taken the room of four that were kept for them. */
const FAMILIES = 6
const OPERATIONS = 36

/** Measures the template in a process whose routes have more operations than those of the service. */
async function measure(operations: number, context: object): Promise<Measured> {
  const script = new URL('room/measure-template.ts', import.meta.url).pathname
  const args = ['--import', new URL('room/add-operations.ts', import.meta.url).href, script]
  const environment = {
    ...process.env,
    ADDED_OPERATIONS: String(operations),
    ADDED_FAMILIES: String(FAMILIES),
    CONTEXT: JSON.stringify(context),
  }
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment })
  return JSON.parse(stdout)
}

describe('the template', () => {
  it.each([
    ['the defaults', {}],
    ['every option', ALL_OPTIONS],
  ])('has room for 36 more operations in six families, with %s', async (name, context) => {
    const [now, then] = await Promise.all([measure(0, context), measure(OPERATIONS, context)])
    const counts = [now, then].map(({ resources, bytes }) => `${resources} resources, ${bytes} bytes`)
    console.log(`${name}: ${counts[0]}; with ${OPERATIONS} more operations ${counts[1]}`)
    expect([now.functions, then.functions]).toEqual([FUNCTION_NAMES.length, FUNCTION_NAMES.length + FAMILIES])
    expect([now.routes, then.routes]).toEqual([routes.length, routes.length + OPERATIONS])
    for (const { resources, bytes } of [now, then]) {
      expect(resources).toBeLessThan(MAX_RESOURCES)
      expect(bytes).toBeLessThan(MAX_BYTES)
    }
    expect(then.operations - now.operations).toBeGreaterThan(2 * OPERATIONS)
  })

  it('measures the reads of a family, and not what it writes', async () => {
    const { readPatterns } = await measure(OPERATIONS, { monitoring: true })
    const ofFamily = readPatterns.filter((pattern) => pattern.includes('made-up-operation-3"'))
    expect(ofFamily).toHaveLength(1)
    const operations = [...(ofFamily[0] ?? '').matchAll(/\$\.operation = "made-up-operation-(\d+)"/g)]
    expect(operations.map(([, number]) => number)).toEqual(['3', '15', '27'])
  })
})
