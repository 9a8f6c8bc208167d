import { Component, type ComponentChild } from 'preact'

export function memo<Props extends object>(
  render: (props: Props) => ComponentChild,
): new (
  props: Props,
) => Component<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const names = Object.keys(next) as (keyof Props)[]
      return names.some((name) => !Object.is(next[name], this.props[name]))
    }
    render(): ComponentChild {
      return render(this.props)
    }
  }
}
