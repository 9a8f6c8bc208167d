import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { hasPython, MIN_PYTHON_MINOR, packagePython } from '../../support/processes/python-environment.ts'

const FOLDER = fileURLToPath(new URL('../../../clients/python', import.meta.url))

/** The asynchronous client performs the same rules: the night runs its half of the scenarios. */
const BY_DAY = ['-q', '-p', 'no:cacheprovider', '-k', 'not run_async']

const isInstalled = await hasPython()
if (!isInstalled)
  console.log(`Skipped: the tests of clients/python need Python 3.${MIN_PYTHON_MINOR} with venv.`)

describe.skipIf(!isInstalled)('the Python package', () => {
  it('passes its tests', async () => {
    const { commandOf, environment } = await packagePython()
    const options = { cwd: FOLDER, env: environment, maxBuffer: 10_000_000 }
    const tests = await promisify(execFile)(commandOf('python'), ['-m', 'pytest', ...BY_DAY], options).catch(
      ({ stdout, stderr }) => ({ stdout: `${stdout}${stderr}` }),
    )
    expect(tests.stdout).toMatch(/^\d+ passed, \d+ deselected in /m)
  })
})
