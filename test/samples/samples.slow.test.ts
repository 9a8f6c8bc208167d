import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { newCli } from '../cli/cli.ts'

const SAMPLES = fileURLToPath(new URL('../../agents', import.meta.url))

const cli = newCli()
afterAll(cli.remove)

/** Nothing that could reach a model. */
const environment = { DEFAULT_MODEL: '', OPENAI_COMPATIBLE_BASE_URL: '', OPENAI_API_KEY: '', AWS_REGION: '' }

describe('the sample agents', () => {
  it.each(readdirSync(SAMPLES))('%s passes its cases without a model', async (slug) => {
    const { passed, failed } = await cli.json(['test', `${SAMPLES}/${slug}`, '--replay'], { environment })
    expect(failed).toBe(0)
    expect(passed).toBeGreaterThan(1)
  })
})
