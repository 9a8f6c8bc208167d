import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Template } from 'aws-cdk-lib/assertions'
import type { Release } from '../../infra/bundling/deploy-release.ts'
import type { ReleaseFile } from './write-release.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/releases')
const WRITE_RELEASE = fileURLToPath(new URL('write-release.ts', import.meta.url))

export type BuiltRelease = Release & { functions: Record<string, string> }

const run = promisify(execFile)

/**
 * The commit before the working tree: HEAD if files have changed, or the one before it. Undefined in an archive and in
 * a clone without it.
 */
export async function previousCommit(): Promise<string | undefined> {
  const git = (...args: string[]) => run('git', args, { cwd: ROOT }).then(({ stdout }) => stdout.trim())
  try {
    const isChanged = (await git('status', '--porcelain')) !== ''
    return await git('rev-parse', '--verify', '--quiet', `${isChanged ? 'HEAD' : 'HEAD~1'}^{commit}`)
  } catch {
    console.warn('Skipped: the history has no previous commit.')
    return undefined
  }
}

/** What the working tree would deploy. `folder`: an empty one, for the bundles. */
export async function buildPresent(folder: string): Promise<BuiltRelease> {
  await run(process.execPath, [WRITE_RELEASE, ROOT, folder], { cwd: ROOT })
  return readRelease(folder)
}

/** What a commit would deploy, built by its own code. Builds it once: later calls read the result from a cache. */
export async function buildRelease(commit: string): Promise<BuiltRelease> {
  const folder = join(CACHE, commit)
  if (existsSync(folder)) return readRelease(folder)
  mkdirSync(CACHE, { recursive: true })
  const temporary = mkdtempSync(join(tmpdir(), 'aes-release-'))
  const output = mkdtempSync(join(CACHE, 'new-'))
  try {
    const [checkout, archive] = [join(temporary, 'checkout'), join(temporary, 'archive.tar')]
    mkdirSync(checkout)
    await run('git', ['archive', `--output=${archive}`, commit], { cwd: ROOT })
    await run('tar', ['-xf', archive, '-C', checkout])
    await installPackages(checkout)
    await run(process.execPath, [WRITE_RELEASE, checkout, output], { cwd: checkout })
    // Another process may have built the same.
    if (!existsSync(folder)) renameSync(output, folder)
  } finally {
    for (const each of [temporary, output]) rmSync(each, { recursive: true, force: true })
  }
  return readRelease(folder)
}

/** Uses the packages of this checkout if they include those that the bundles of the other one contain. */
async function installPackages(checkout: string): Promise<void> {
  const dependenciesOf = (folder: string): Record<string, string> =>
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies
  const present = dependenciesOf(ROOT)
  const isSubset = Object.entries(dependenciesOf(checkout)).every(([name, range]) => present[name] === range)
  if (isSubset) symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout })
}

function readRelease(folder: string): BuiltRelease {
  const { template, functions }: ReleaseFile = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'))
  return { bundles: join(folder, 'functions'), template: Template.fromJSON(template), functions }
}
