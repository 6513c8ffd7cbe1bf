export type ButtonVariant = 'default' | 'primary' | 'ghost' | 'danger' | 'danger-primary';
export type ButtonSize = 'normal' | 'small' | 'touch';

interface Look {
  variant: ButtonVariant;
  size: ButtonSize;
  /** An icon without words. */
  alone: boolean;
  off: boolean;
}

const variants: Record<ButtonVariant, { on: string; hover: string }> = {
  default: {
    on: 'border-line-strong bg-surface-1 text-text-1 shadow-1',
    hover: 'hover:bg-surface-2 active:bg-surface-3',
  },
  primary: {
    on: 'border-accent bg-accent text-on-accent shadow-1 forced-colors:bg-[ButtonText] forced-colors:text-[ButtonFace] forced-colors:forced-color-adjust-none',
    hover: 'hover:border-accent-hover hover:bg-accent-hover',
  },
  ghost: { on: 'border-transparent text-text-2', hover: 'hover:bg-surface-2 hover:text-text-1' },
  danger: {
    on: 'border-line-strong bg-surface-1 text-state-failed shadow-1',
    hover: 'hover:bg-diff-new-bg active:bg-diff-new-bg',
  },
  'danger-primary': {
    on: 'border-state-failed bg-state-failed text-surface-1 shadow-1',
    hover: 'hover:opacity-90',
  },
};

const sizes: Record<ButtonSize, { height: string; words: string; alone: string }> = {
  normal: { height: 'h-(--control) text-size-13', words: 'px-[11px]', alone: 'w-(--control)' },
  small: { height: 'h-[26px] text-size-12', words: 'px-2', alone: 'w-[26px]' },
  touch: { height: 'h-(--row-touch) text-size-14', words: 'px-4', alone: 'w-(--row-touch)' },
};

/** Classes of a button or of a link that looks like one. On touch screens everything is 44 px high. */
export function buttonLook({ variant, size, alone, off }: Look): string {
  const { on, hover } = variants[variant];
  const { height, words, alone: square } = sizes[size];
  return [
    'inline-flex flex-none select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-m border font-medium',
    'transition-colors duration-(--motion-fast) pointer-coarse:min-h-(--row-touch) pointer-coarse:min-w-(--row-touch)',
    height,
    alone ? square : variant === 'ghost' ? 'px-2' : words,
    on,
    off ? 'cursor-not-allowed! opacity-50' : hover,
  ].join(' ');
}
