import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/python', import.meta.url))

/** The requirements of the tests are tested with this and later versions. */
export const MIN_PYTHON_MINOR = 10

/** A registry that does not answer must not hold a run for longer. */
const INSTALL_TIMEOUT_MS = 240_000

const run = promisify(execFile)

/** Whether Python 3 is installed, recent enough, and with its modules that create environments and install packages. */
export async function hasPython(minMinor = MIN_PYTHON_MINOR): Promise<boolean> {
  const script = 'import sys, venv, ensurepip; print(sys.version_info.minor)'
  return run('python3', ['-c', script]).then(
    ({ stdout }) => Number(stdout) >= minMinor,
    () => false,
  )
}

/**
 * Creates a virtual environment with the packages of a requirements file, and prints a message while pip installs them.
 * Later calls reuse it until the file changes.
 * @param options of `pip install`
 * @param python the command of the interpreter
 * @returns the path of a command of the environment
 * @throws an Error if the packages are not there after four minutes
 */
export async function installPython(
  requirements: URL,
  options: string[] = [],
  python = 'python3',
): Promise<(command: string) => string> {
  const path = fileURLToPath(requirements)
  const digest = createHash('sha256')
    .update(readFileSync(path))
    .update([...options, python].join())
    .digest('hex')
  const folder = join(CACHE, digest.slice(0, 16))
  const installed = join(folder, 'installed')
  if (!existsSync(installed)) {
    console.log(`Installing the packages of ${relative(process.cwd(), path)} (once, about a minute)`)
    await run(python, ['-m', 'venv', '--clear', folder])
    // Compiling all modules takes longer than compiling the ones that a command imports, when it does.
    const install = ['install', '--quiet', '--no-compile', ...options, '--requirement', path]
    await run(join(folder, 'bin/pip'), install, { timeout: INSTALL_TIMEOUT_MS })
    writeFileSync(installed, path)
  }
  return (command) => join(folder, 'bin', command)
}

/** The Python package of this repository with the packages of its tests, for `python -m agent_execution` and pytest. */
export async function packagePython(python?: string) {
  const requirements = new URL('../../../clients/python/tests/requirements.txt', import.meta.url)
  const commandOf = await installPython(requirements, [], python)
  const source = fileURLToPath(new URL('../../../clients/python/src', import.meta.url))
  const environment = { ...process.env, PYTHONPATH: source, MYPYPATH: source, PYTHONDONTWRITEBYTECODE: '1' }
  return { commandOf, environment }
}
