import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPython, installPython, packagePython } from '../../support/processes/python-environment.ts'

const FOLDER = fileURLToPath(new URL('../../../clients/python', import.meta.url))
const REQUIREMENTS = new URL('requirements.txt', import.meta.url)
const EXAMPLES_TEST = fileURLToPath(new URL('examples_test.py', import.meta.url))

const run = promisify(execFile)

/** The interpreters of this machine from 3.10 on, of pyenv too. */
function findPythons(): string[] {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const installed = existsSync(versions) ? readdirSync(versions) : []
  const found = installed.filter((name) => /^3\.1\d\.\d+$/.test(name))
  return found.length > 0 ? found.map((name) => join(versions, name, 'bin/python')) : ['python3']
}

const isInstalled = await hasPython()
describe.skipIf(!isInstalled)('the Python package', () => {
  it.each(isInstalled ? findPythons() : [])('passes all its tests with %s', async (python) => {
    const { commandOf, environment } = await packagePython(python)
    const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider']
    const { stdout } = await run(commandOf('python'), args, { cwd: FOLDER, env: environment }).catch((e) => e)
    expect(stdout).toMatch(/^\d+ passed in /m)
  })

  describe('with the tools of its users', () => {
    let commandOf: (command: string) => string
    const dist = mkdtempSync(join(tmpdir(), 'aes-dist-'))
    beforeAll(async () => {
      commandOf = await installPython(REQUIREMENTS)
    })
    afterAll(() => rmSync(dist, { recursive: true }))

    it('is typed, for mypy and pyright', async () => {
      const options = { cwd: FOLDER, env: { ...process.env, PYTHONPATH: '' } }
      const mypy = await run(commandOf('mypy'), ['--cache-dir', join(dist, 'mypy')], options).catch((e) => e)
      expect(mypy.stdout).toMatch(/^Success/)
      const python = ['--pythonpath', commandOf('python')]
      const pyright = await run(commandOf('pyright'), python, options).catch((e) => e)
      expect(pyright.stdout).toMatch(/^0 errors, 0 warnings/m)
    })

    it('builds a wheel and a source distribution, which contain the package and nothing else', async () => {
      const args = ['-m', 'build', '--no-isolation', '--outdir', join(dist, 'out'), FOLDER]
      await run(commandOf('python'), args)
      const [wheel = '', source = ''] = readdirSync(join(dist, 'out')).toSorted()
      const list = `import zipfile, tarfile, sys
names = zipfile.ZipFile(sys.argv[1]).namelist() + tarfile.open(sys.argv[2]).getnames()
print("\\n".join(name for name in names if "/src/" not in name and not name.startswith("agent_execution/")))`
      const files = [wheel, source].map((name) => join(dist, 'out', name))
      const { stdout } = await run(commandOf('python'), ['-c', list, ...files])
      expect(
        stdout
          .replaceAll(/agent_execution-[\d.]+\w*?(?=[./])/g, 'V')
          .trim()
          .split('\n')
          .toSorted(),
      ).toEqual([
        'V.dist-info/METADATA',
        'V.dist-info/RECORD',
        'V.dist-info/WHEEL',
        'V.dist-info/licenses/LICENSE',
        'V/.gitignore',
        'V/LICENSE',
        'V/PKG-INFO',
        'V/README.md',
        'V/pyproject.toml',
      ])
      const target = join(dist, 'installed')
      await run(commandOf('pip'), ['install', '--quiet', '--no-deps', '--target', target, files[0] ?? ''])
      expect(existsSync(join(target, 'agent_execution/py.typed'))).toBe(true)
      const check = 'import agent_execution.server as s; print(s.agent(lambda input: input))'
      const env = { ...process.env, PYTHONPATH: target }
      expect((await run(commandOf('python'), ['-c', check], { env })).stdout).toContain('RemoteAgent')
    })

    it('has examples that work', async () => {
      const env = { ...process.env, PYTHONPATH: `${join(FOLDER, 'src')}:${join(FOLDER, 'tests')}` }
      const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', EXAMPLES_TEST]
      const { stdout } = await run(commandOf('python'), args, { env, cwd: dist }).catch((e) => e)
      expect(stdout).toMatch(/^\d+ passed in /m)
    })
  })
})
