import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DOCUMENT_FILE } from '../lib/core/agent.ts'
import { AgentArchived, TrialRequired } from '../lib/core/errors.ts'
import { agentIdOf } from '../lib/core/ids.ts'
import type { AgentStore } from '../lib/core/ports.ts'
import { system } from '../lib/system.ts'
import { readState } from './data-folder.ts'
import { DEVELOPMENT_ORGANIZATION, operatorId } from './development.ts'

/** `problems`: the folder is not a valid agent, or the agent is archived, and nothing was published. */
export type PublishResult = { slug: string; isNew: boolean } | Invalid

/** What was last published from a folder. `sources` are the source files outside the folder. */
type Publication = { slug: string; sources: string[]; sourceHash: string }

/**
 * Publishes every agent below a folder whose document or code differs from its current version. An agent whose files
 * are unchanged since the last start is neither checked nor published, so that a rollback survives a restart; if all
 * are unchanged, the bundler is not loaded.
 * @param stateFile stores what was published
 */
export async function publishFolder(
  store: AgentStore,
  folder: string,
  stateFile: string,
): Promise<PublishResult[]> {
  const entries = existsSync(folder) ? await readdir(folder) : []
  const folders = entries
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, DOCUMENT_FILE)))
  // Empty if the file is missing or invalid: then every folder is checked.
  const state = await readState<Publication>(stateFile)
  const results = await Promise.all(
    folders.map(async (path) => (await findUnchanged(store, path, state[path])) ?? publish(store, path)),
  )
  if (results.some((result) => 'problems' in result || result.isChecked)) {
    const { stopBundler } = await import('../lib/agents/code/bundle-code.ts')
    await stopBundler()
    const entries = results.flatMap((result, index) =>
      'problems' in result ? [] : [[folders[index], result.publication]],
    )
    await writeFile(stateFile, JSON.stringify(Object.fromEntries(entries)))
  }
  return results.map((result) =>
    'problems' in result ? result : { slug: result.publication.slug, isNew: result.isNew },
  )
}

type Published = { publication: Publication; isNew: boolean; isChecked: boolean }
type Invalid = { folder: string; problems: string[] }

/** Null when the folder has to be checked. */
async function findUnchanged(
  store: AgentStore,
  folder: string,
  publication: Publication | undefined,
): Promise<Published | null> {
  if (!publication || (await hashSources(folder, publication.sources)) !== publication.sourceHash) return null
  const organizationId = DEVELOPMENT_ORGANIZATION.id
  const agent = await store.get({ organizationId, id: agentIdOf(organizationId, publication.slug) })
  return agent?.current ? { publication, isNew: false, isChecked: false } : null
}

async function publish(store: AgentStore, folder: string): Promise<Published | Invalid> {
  const { formatProblem } = await import('../lib/agents/load-folder.ts')
  const { loadAgent } = await import('./load-agent.ts')
  const { agent, problems } = await loadAgent(folder, process.env)
  if (!agent) return { folder, problems: problems.map(formatProblem) }
  const { slug } = agent.document
  const sources = sourcesOutside(folder, agent.sources)
  const publication = { slug, sources, sourceHash: await hashSources(folder, sources) }
  const { publishAgent } = await import('../lib/agents/lifecycle/publish-agent.ts')
  const params = { store, system, organizationId: DEVELOPMENT_ORGANIZATION.id, createdBy: operatorId() }
  try {
    const { isNew } = await publishAgent({ ...params, agent, draft: false })
    return { publication, isNew, isChecked: true }
  } catch (error) {
    if (error instanceof AgentArchived)
      return { folder, problems: [`${folder}: the agent ${slug} is archived`] }
    if (error instanceof TrialRequired)
      return { folder, problems: [`${folder}: ${explainTrial(folder, slug)}`] }
    throw error
  }
}

const explainTrial = (folder: string, slug: string): string =>
  [
    `the current version of ${slug} requires a trial, so it stays current. To replace it:`,
    `  npm run agents -- publish ${folder} --draft`,
    `  npm run agents -- trial ${slug} --max-cost <dollars>`,
    `  npm run agents -- promote ${slug} --trial <id>`,
  ].join('\n')

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

/** What checks and bundles agents, and the versions of the packages that they import. */
const TOOLCHAIN = ['lib', 'package-lock.json', 'tsconfig.json'].map((name) => join(PROJECT, name))

/** The sources of an agent outside its folder. Packages are left out: the lock file has their versions. */
export function sourcesOutside(folder: string, sources: string[]): string[] {
  const isInside = (path: string) => !relative(resolve(folder), path).startsWith('..')
  return sources
    .map((path) => resolve(path))
    .filter((path) => !isInside(path) && !path.split(sep).includes('node_modules'))
}

/** A hash of the names and contents of everything that a version of the agent depends on. */
export async function hashSources(folder: string, sources: string[]): Promise<string> {
  const files = (await Promise.all([folder, ...sources, ...TOOLCHAIN].map(listFiles))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => 'missing')))
  const hash = createHash('sha256')
  for (const [index, file] of files.entries()) {
    const content = contents[index] ?? ''
    hash.update(JSON.stringify([file, content.length])).update(content)
  }
  return hash.digest('hex')
}

/** All files below a folder; the path itself if it is a file. */
async function listFiles(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return [path]
  }
}
