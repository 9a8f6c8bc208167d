import { type Model, ModelConfigurationError, ModelError } from '../../core/model.ts'
import type { RecordedStep } from '../../core/step.ts'
import type { Environment } from '../../environment.ts'
import { formatModelName, parseModelName } from '../../models/model-name.ts'

type Params = {
  names: string[]
  environment: Environment
  open: (name: string) => Promise<Model>
  /** Instead of it for models that may never be asked: those of a replay. */
  openLater?: ((name: string) => Promise<Model>) | undefined
}

/** Which model of a run comes next. A run stays with the one that responds: its provider has the history cached. */
export class FallbackModels {
  private readonly params: Params
  private index: number
  /** How many models in a row have failed to respond to the current request. */
  private failures = 0

  /** @param recorded a resumed run continues with the model of its last step */
  constructor(params: Params, { recorded }: { recorded: readonly RecordedStep[] }) {
    this.params = params
    const last = recorded.at(-1)?.step
    this.index = Math.max(last?.kind === 'MODEL' ? this.indexOf(last.model) : 0, 0)
  }

  /** @param used as recorded */
  private indexOf(used: string | undefined): number {
    const { names, environment } = this.params
    return names.findIndex((name) => formatModelName(parseModelName(name, environment)) === used)
  }

  /**
   * The model that answered a step of the original; null if it is none of this run.
   * @throws ModelConfigurationError, ModelError
   */
  async find(used: string | undefined): Promise<Model | null> {
    const name = this.params.names[this.indexOf(used)]
    const { open, openLater = open } = this.params
    return name === undefined ? null : openLater(name)
  }

  /** The run goes on with this one. */
  use({ name }: Model): void {
    this.index = Math.max(this.indexOf(name), 0)
  }

  /** Whether another model has not been tried with the current request. */
  get hasNext(): boolean {
    return this.failures + 1 < this.params.names.length
  }

  /** @throws ModelConfigurationError; ModelError if no API key can be read */
  async first(): Promise<Model> {
    const { names, open, openLater = open } = this.params
    try {
      return await openLater(names[this.index] ?? '')
    } catch (error) {
      const next = error instanceof ModelError && error.isTransient ? await this.next() : null
      if (next) return next
      throw error
    }
  }

  /** The next model that can be opened; null if each has been tried with the current request. */
  async next(): Promise<Model | null> {
    const { names, open } = this.params
    while (this.hasNext) {
      this.failures++
      this.index = (this.index + 1) % names.length
      try {
        return await open(names[this.index] ?? '')
      } catch (error) {
        if (!(error instanceof ModelError || error instanceof ModelConfigurationError)) throw error
      }
    }
    return null
  }

  /** The current model has responded. */
  reset(): void {
    this.failures = 0
  }
}
