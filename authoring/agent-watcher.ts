import { resolve, sep } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { TYPES_FILE } from '../lib/agents/code/write-agent-types.ts'
import { sourcesOutside } from '../local/checked-agents.ts'
import { RECORDINGS_FOLDER } from './recording/recording.ts'

/** Editors replace files, and version control writes several at once. */
const SETTLE_MS = 120

/** Watches the files of an agent: its folder, and what its code imports from elsewhere except packages. */
export class AgentWatcher {
  private readonly folder: string
  private readonly watcher: FSWatcher
  private change = Promise.withResolvers<void>()
  private timer: NodeJS.Timeout | undefined

  constructor(folder: string) {
    this.folder = folder
    this.watcher = watch(folder, { ignoreInitial: true, ignored: isIgnored })
    this.watcher.on('all', () => this.report())
  }

  /** Watches imported files, too. */
  add(sources: string[]): void {
    this.watcher.add(sourcesOutside(this.folder, sources))
  }

  /** The next change, counted from the last call. */
  next(): Promise<void> {
    this.change = Promise.withResolvers()
    return this.change.promise
  }

  close(): Promise<void> {
    clearTimeout(this.timer)
    return this.watcher.close()
  }

  private report(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.change.resolve(), SETTLE_MS)
  }
}

/** What the commands write themselves, and packages. */
const IGNORED = [TYPES_FILE, RECORDINGS_FOLDER, 'node_modules']

const isIgnored = (path: string) =>
  resolve(path)
    .split(sep)
    .some((name) => IGNORED.includes(name))
