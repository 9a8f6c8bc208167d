import { toFileName } from '../recording/recording.ts'

/** The names of cases, each with a recording of its own. */
export class CaseNames {
  private readonly used = new Set<string>()

  constructor(names: string[]) {
    for (const name of names) this.use(name)
  }

  /** The name, with the id if it, or the file of its recording, belongs to another case. */
  add(name: string, id: string): string {
    const isFree = keysOf(name).every((key) => !this.used.has(key))
    return this.use(isFree ? name : `${name.slice(0, MAX_NAME)} (${id})`)
  }

  private use(name: string): string {
    for (const key of keysOf(name)) this.used.add(key)
    return name
  }
}

const keysOf = (name: string): string[] => [name, `${toFileName(name)}.yaml`].filter((key) => key !== '.yaml')

/** With an id, a name has at most 200 characters. */
const MAX_NAME = 150
