import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { newCli } from '../cli/cli.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SAMPLES = globSync('{agents,examples/agents}/*/cases.yaml', { cwd: ROOT }).map(dirname)

const cli = newCli()
afterAll(cli.remove)

/** Nothing that could reach a model. */
const environment = { DEFAULT_MODEL: '', OPENAI_COMPATIBLE_BASE_URL: '', OPENAI_API_KEY: '', AWS_REGION: '' }

describe('the sample agents', () => {
  it.each(SAMPLES)('%s passes its cases without a model', async (folder) => {
    const { passed, failed } = await cli.json(['test', join(ROOT, folder), '--replay'], { environment })
    expect(failed).toBe(0)
    expect(passed).toBeGreaterThan(1)
  })
})
