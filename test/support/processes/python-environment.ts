import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/python', import.meta.url))

/** The requirements of the tests are tested with this and later versions. */
export const MIN_PYTHON_MINOR = 10

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
 * @returns the path of a command of the environment
 */
export async function installPython(
  requirements: URL,
  options: string[] = [],
): Promise<(command: string) => string> {
  const path = fileURLToPath(requirements)
  const digest = createHash('sha256').update(readFileSync(path)).update(options.join()).digest('hex')
  const folder = join(CACHE, digest.slice(0, 16))
  const installed = join(folder, 'installed')
  if (!existsSync(installed)) {
    console.log(`Installing the packages of ${relative(process.cwd(), path)} (once, about a minute)`)
    await run('python3', ['-m', 'venv', '--clear', folder])
    // Compiling all modules takes longer than compiling the ones that a command imports, when it does.
    const install = ['install', '--quiet', '--no-compile', ...options, '--requirement', path]
    await run(join(folder, 'bin/pip'), install)
    writeFileSync(installed, path)
  }
  return (command) => join(folder, 'bin', command)
}
