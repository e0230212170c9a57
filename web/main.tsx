import './ui/base.css';

document.title = 'Parley';
