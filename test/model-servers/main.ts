/**
 * `npm run test:models`: agents on a real model server, and the requests of all tests in the vendors' own validators.
 * Skipped without Python, unless TEST_MODELS_REQUIRED is set.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reportersWith } from '../ci/results.ts'
import { runCommand } from '../support/processes/processes.ts'
import { hasPython, MIN_PYTHON_MINOR } from '../support/processes/python-environment.ts'
import { MODEL_REQUESTS } from '../support/scripted-model/recorded-request.ts'
import { serverPython } from './agents.ts'

const VALIDATE = fileURLToPath(new URL('validate_requests.py', import.meta.url))
const SCRIPTED_MODEL = 'test/support/scripted-model/start-scripted-model.ts'
const reporters = reportersWith('dot').map((reporter) => `--reporter=${reporter}`)
const vitest = (...args: string[]) => ['vitest', ...args, '--run', ...reporters, '--silent=passed-only']

if (await hasPython()) {
  await testServers()
  await validateRequests()
} else {
  console.log(`test:models: skipped, it needs Python 3.${MIN_PYTHON_MINOR} with venv`)
  if (process.env.TEST_MODELS_REQUIRED) process.exitCode = 1
}

async function testServers(): Promise<void> {
  console.log('test:models: agents on llama.cpp')
  await runCommand('npx', vitest('--config', 'test/model-servers/vitest.config.ts'))
}

/** Runs the tests of `npm test` that use scripted model servers, and validates what these received. */
async function validateRequests(): Promise<void> {
  console.log("test:models: the tests' requests in the validators of OpenAI, Anthropic and AWS")
  const folder = mkdtempSync(join(tmpdir(), 'aes-model-requests-'))
  try {
    await runCommand('npx', vitest('related', SCRIPTED_MODEL), { [MODEL_REQUESTS]: folder })
    await runCommand(await serverPython(), [VALIDATE, folder])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
