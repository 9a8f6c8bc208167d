import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appendCases } from '../../authoring/cases/add-case.ts'
import { CASES_FILE, parseCases, type TestCase } from '../../authoring/cases/case-file.ts'
import { folderError, UserError } from '../errors.ts'

/** The `cases.yaml` of an agent, to which cases are added. */
export class CasesFile {
  readonly cases: TestCase[]
  private readonly path: string

  private constructor(path: string, text: string) {
    const { cases, problems } = parseCases(text, path)
    if (problems.length > 0) throw folderError('Adding a case', problems)
    this.cases = cases
    this.path = path
  }

  /** @throws UserError if the folder does not exist, or the file is invalid */
  static async open(folder: string): Promise<CasesFile> {
    if (!existsSync(folder))
      throw new UserError(`${folder} does not exist. Specify the agent's folder with --folder.`)
    const path = join(folder, CASES_FILE)
    return new CasesFile(path, await read(path))
  }

  /**
   * Adds cases to the file as it is now: an editor may have saved it meanwhile. The rest of it stays as it is.
   * @throws UserError if one of the cases cannot be added; then none is
   */
  async append(added: TestCase[]): Promise<void> {
    const before = await read(this.path)
    const { problems: earlier } = parseCases(before, this.path)
    if (earlier.length > 0) throw folderError('Adding a case', earlier)
    const after = appendCases(before, added)
    const { problems } = parseCases(after, this.path)
    if (problems.length > 0) throw folderError('Adding a case', problems)
    await writeFile(this.path, after)
  }
}

const read = async (path: string): Promise<string> => (existsSync(path) ? readFile(path, 'utf8') : '')
